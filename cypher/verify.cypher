// name: versions_without_group
// Versions whose group does not exist.
// returns: kind, id
MATCH (v:GraphmemEntity) WHERE NOT EXISTS { MATCH (:GraphmemGroup {group_id: v.group_id}) }
RETURN 'entity' AS kind, v.uuid AS id

// name: citations_without_ends
// Citations of a fact or an episode that does not exist.
// returns: kind, id
MATCH (c:GraphmemCitation)
WHERE NOT EXISTS { MATCH ()-[:RELATES_TO {group_id: c.group_id, gm_fact_id: c.fact_id}]->() }
   OR NOT EXISTS { MATCH (:GraphmemEpisode {group_id: c.group_id, id: c.episode}) }
RETURN 'citation' AS kind, c.fact_id AS id

// name: mentions_without_episode
// Mentions of an episode that does not exist.
// returns: kind, id
MATCH (m:GraphmemMention)
WHERE NOT EXISTS { MATCH (:GraphmemEpisode {group_id: m.group_id, id: m.episode}) }
RETURN 'mention' AS kind, m.episode AS id

// name: vectors_without_owner
// Vectors of something that does not exist.
// returns: kind, id
CALL () {
  MATCH (p:GraphmemEntityPiece)
  WHERE NOT EXISTS { MATCH (e:Entity {group_id: p.group_id, uuid: p.owner}) WHERE e.gm_words IS NOT NULL } RETURN p
  UNION
  MATCH (p:GraphmemEpisodePiece) WHERE NOT EXISTS { MATCH (:GraphmemEpisode {group_id: p.group_id, id: p.owner}) } RETURN p
}
RETURN 'index' AS kind, p.owner AS id

// name: assertions_without_episode
// Assertions, links and decisions without the episode or the assertion they belong to.
// returns: kind, id
CALL () {
  MATCH (a:GraphmemAssertion) WHERE NOT EXISTS { MATCH (:GraphmemEpisode {group_id: a.group_id, id: a.episode}) } RETURN a.id AS id
  UNION
  MATCH (l:GraphmemLink) WHERE NOT EXISTS { MATCH (:GraphmemEpisode {group_id: l.group_id, id: l.episode}) } RETURN l.episode AS id
  UNION
  MATCH (d:GraphmemDecision) WHERE NOT EXISTS { MATCH (:GraphmemAssertion {group_id: d.group_id, id: d.assertion}) } RETURN d.named AS id
}
RETURN 'key' AS kind, id

// name: facts_that_differ
// Facts whose ends or words are not those of their nodes and indexes.
// returns: kind, id
MATCH (s:Entity)-[r:RELATES_TO]->(t:Entity)
WHERE r.gm_fact_id IS NOT NULL
  AND (s.uuid <> r.source_node_uuid OR t.uuid <> r.target_node_uuid OR s.group_id <> r.group_id OR r.gm_words IS NULL)
RETURN 'fact' AS kind, r.uuid AS id

// name: episodes_shown_otherwise
// Episodes that are said to be visible always, or not to be, against the list of when they were.
// returns: kind, id
MATCH (n:GraphmemEpisode)
WITH n, size(n.shown) = 4 AND n.shown[1] = 4611686018427387904 AND n.shown[3] = 4611686018427387904 AS always
WHERE always = (n.gm_from IS NULL) OR (always AND (n.gm_from <> n.shown[0] OR n.gm_shown <> n.shown[2]))
RETURN 'episode' AS kind, n.id AS id

// name: overlapping_facts
// Facts with two versions of one valid start believed at one instant.
// returns: kind, id
MATCH ()-[a:RELATES_TO]->() WHERE a.gm_fact_id IS NOT NULL
MATCH ()-[b:RELATES_TO {group_id: a.group_id, gm_fact_id: a.gm_fact_id}]->()
WHERE b.uuid > a.uuid AND a.gm_valid_from = b.gm_valid_from AND a.gm_from < b.gm_to AND b.gm_from < a.gm_to
RETURN DISTINCT 'fact' AS kind, a.gm_fact_id AS id

// name: overlapping_entities
// Entities with two versions believed at one instant.
// returns: kind, id
MATCH (a:GraphmemEntity)
MATCH (b:GraphmemEntity {group_id: a.group_id, id: a.id})
WHERE b.uuid > a.uuid AND a.gm_from < b.gm_to AND b.gm_from < a.gm_to
RETURN DISTINCT 'entity' AS kind, a.id AS id

// name: words_that_differ
// Kinds of rows whose number or words a group does not count right.
// returns: kind, id
MATCH (g:GraphmemGroup)
CALL (g) {
  MATCH ()-[r:RELATES_TO {group_id: g.group_id}]->() WHERE r.gm_words IS NOT NULL
  RETURN count(r) AS facts, sum(size([t IN split(r.gm_words, ' ') WHERE t <> ''])) AS fact_words
}
CALL (g) {
  MATCH (e:Entity {group_id: g.group_id}) WHERE e.gm_words IS NOT NULL
  RETURN count(e) AS entities, sum(size([t IN split(e.gm_words, ' ') WHERE t <> ''])) AS entity_words
}
CALL (g) {
  MATCH (e:GraphmemEpisode {group_id: g.group_id}) WHERE e.gm_words IS NOT NULL
  RETURN count(e) AS episodes, sum(size([t IN split(e.gm_words, ' ') WHERE t <> ''])) AS episode_words
}
CALL (g) {
  MATCH (c:GraphmemCommunity {group_id: g.group_id}) WHERE c.uuid IS NOT NULL AND c.gm_words IS NOT NULL
  RETURN count(c) AS communities, sum(size([t IN split(c.gm_words, ' ') WHERE t <> ''])) AS community_words
}
WITH g, [['fact', g.fact_rows - facts, g.fact_words - fact_words], ['entity', g.entity_rows - entities, g.entity_words - entity_words],
    ['episode', g.episode_rows - episodes, g.episode_words - episode_words],
    ['community', g.community_rows - communities, g.community_words - community_words]] AS all
UNWIND all AS one
WITH g, one WHERE one[1] <> 0 OR one[2] <> 0
RETURN 'index' AS kind, g.group_id + ' ' + one[0] AS id
