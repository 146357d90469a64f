// name: unborn_facts
// Of fact versions ended in this transaction, those of which nothing is left.
// params: group, uuids
// returns: uuid
UNWIND $uuids AS id
MATCH ()-[r:RELATES_TO {group_id: $group, uuid: id}]->() WHERE r.gm_from >= r.gm_to
RETURN r.uuid AS uuid

// name: drop_facts
// Remove fact versions with their words and what is staged for them.
// params: group, uuids
MATCH (g:GraphmemGroup {group_id: $group})
UNWIND $uuids AS id
MATCH ()-[r:RELATES_TO {group_id: $group, uuid: id}]->()
CALL (id) { MATCH (s:GraphmemStagedVector {group_id: $group, kind: 'fact', owner: id}) DELETE s }
WITH g, r, id, [token IN split(coalesce(r.gm_words, ''), ' ') WHERE token <> ''] AS tokens
SET g.fact_rows = g.fact_rows - 1, g.fact_words = g.fact_words - size(tokens)
DELETE r
WITH id, tokens
UNWIND tokens AS token
WITH DISTINCT id, token
WITH token, count(*) AS rows
MATCH (w:GraphmemWord {group_id: $group, kind: 'fact', token: token})
SET w.rows = w.rows - rows
WITH w WHERE w.rows <= 0
DELETE w

// name: clear_some_vectors
// Remove some vectors of a group, and what is staged.
// params: group, limit
// returns: gone
CALL () {
  MATCH (n:GraphmemEpisodePiece {group_id: $group}) WHERE n.owner IS NOT NULL AND n.piece IS NOT NULL RETURN n LIMIT $limit
  UNION MATCH (n:GraphmemEntityPiece {group_id: $group}) WHERE n.owner IS NOT NULL AND n.piece IS NOT NULL RETURN n LIMIT $limit
  UNION MATCH (n:GraphmemStagedVector {group_id: $group}) WHERE n.kind IS NOT NULL AND n.owner IS NOT NULL RETURN n LIMIT $limit
}
WITH n LIMIT $limit
DELETE n
RETURN count(*) AS gone

// name: clear_some_facts
// Remove some facts of a group.
// params: group, limit
// returns: gone
MATCH ()-[r:RELATES_TO {group_id: $group}]->() WITH r LIMIT $limit
DELETE r
RETURN count(*) AS gone

// name: clear_some_citations
// Remove some citations of a group.
// params: group, limit
// returns: gone
MATCH (c:GraphmemCitation {group_id: $group}) WHERE c.fact_id IS NOT NULL WITH c LIMIT $limit
DELETE c
RETURN count(*) AS gone

// name: clear_some_entities
// Remove some entities of a group with their versions and names.
// params: group, limit
// returns: gone
CALL () {
  MATCH (n:GraphmemEntity {group_id: $group}) WHERE n.uuid IS NOT NULL RETURN n LIMIT $limit
  UNION MATCH (n:GraphmemName {group_id: $group}) WHERE n.key IS NOT NULL RETURN n LIMIT $limit
  UNION MATCH (n:Entity {group_id: $group}) WHERE n.uuid IS NOT NULL RETURN n LIMIT $limit
}
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS gone

// name: clear_some_episodes
// Hide some episodes of a group and take them out of the indexes; the log stays.
// params: group, limit
// returns: gone
MATCH (n:GraphmemEpisode {group_id: $group}) WHERE n.seq IS NOT NULL AND (n.gm_words IS NOT NULL OR size(n.shown) > 0)
WITH n LIMIT $limit
OPTIONAL MATCH (p:Episodic {group_id: $group, uuid: n.id})
DETACH DELETE p
SET n.shown = []
REMOVE n.gm_words, n.gm_said, n.gm_scope, n.gm_from, n.gm_shown
RETURN count(*) AS gone

// name: clear_some_keys
// Forget of some assertions of a group which fact they speak of.
// params: group, limit
// returns: gone
MATCH (a:GraphmemAssertion {group_id: $group}) WHERE a.id IS NOT NULL AND a.keyed
WITH a LIMIT $limit
REMOVE a.keyed, a.fact_id, a.key_relation, a.key_source, a.key_target, a.key_variant
RETURN count(*) AS gone

// name: clear_some_words
// Remove some counts of words of a group.
// params: group, limit
// returns: gone
MATCH (w:GraphmemWord {group_id: $group}) WHERE w.kind IS NOT NULL AND w.token IS NOT NULL WITH w LIMIT $limit
DELETE w
RETURN count(*) AS gone

// name: clear_counts
// Count no words and no vectors of a group.
// params: group, change
MATCH (g:GraphmemGroup {group_id: $group})
SET g.change = $change, g.fact_rows = 0, g.fact_words = 0, g.entity_rows = 0, g.entity_words = 0, g.episode_rows = 0, g.episode_words = 0,
    g.community_rows = 0, g.community_words = 0,
    g.fact_vectors = 0, g.entity_vectors = 0, g.episode_vectors = 0, g.community_vectors = 0

// name: erase_episodes
// Remove episodes with everything that came from them.
// params: group, ids, change
MATCH (g:GraphmemGroup {group_id: $group})
SET g.change = $change
WITH g
CALL (g) {
  UNWIND $ids AS id
  MATCH (n:GraphmemEpisode {group_id: $group, id: id}) WHERE n.gm_words IS NOT NULL
  WITH g, id, [token IN split(n.gm_words, ' ') WHERE token <> ''] AS tokens
  SET g.episode_rows = g.episode_rows - 1, g.episode_words = g.episode_words - size(tokens)
  WITH id, tokens UNWIND tokens AS token
  WITH DISTINCT id, token
  WITH token, count(*) AS rows
  MATCH (w:GraphmemWord {group_id: $group, kind: 'episode', token: token})
  SET w.rows = w.rows - rows
  WITH w WHERE w.rows <= 0
  DELETE w
}
CALL () { UNWIND $ids AS id MATCH (p:GraphmemEpisodePiece {group_id: $group, owner: id}) DELETE p }
CALL () { UNWIND $ids AS id MATCH (p:GraphmemStagedVector {group_id: $group, kind: 'episode', owner: id}) DELETE p }
CALL () {
  UNWIND $ids AS id
  MATCH (a:GraphmemAssertion {group_id: $group, episode: id})
  OPTIONAL MATCH (d:GraphmemDecision {group_id: $group, assertion: a.id})
  DELETE d, a
}
CALL () { UNWIND $ids AS id MATCH (l:GraphmemLink {group_id: $group, episode: id}) DELETE l }
CALL () { UNWIND $ids AS id MATCH (m:GraphmemMention {group_id: $group, episode: id}) DETACH DELETE m }
CALL () { UNWIND $ids AS id MATCH (c:GraphmemCitation {group_id: $group, episode: id}) DELETE c }
CALL () { UNWIND $ids AS id MATCH (p:Episodic {group_id: $group, uuid: id}) DETACH DELETE p }
CALL () { UNWIND $ids AS id MATCH (n:GraphmemEpisode {group_id: $group, id: id}) DELETE n }

// name: drop_answers
// Remove recorded answers.
// params: keys
UNWIND $keys AS key MATCH (a:GraphmemAnswer {key_index: key}) DELETE a

// name: erase_operations
// Remove operations, with what they are found by.
// params: group, ids, targets, change
MATCH (g:GraphmemGroup {group_id: $group})
SET g.change = $change
WITH count(*) AS taken
CALL () {
  UNWIND $targets AS x
  MATCH (t:GraphmemTarget {group_id: $group, target: x.target}) WHERE t.operation = x.operation
  DELETE t
}
CALL () { UNWIND $ids AS id MATCH (o:GraphmemOperation {group_id: $group, id: id}) DELETE o }

// name: erase_some_of_group
// Remove some of a group's log.
// params: group, limit
// returns: gone
CALL () {
  MATCH (n:GraphmemEpisode {group_id: $group}) WHERE n.id IS NOT NULL RETURN n LIMIT $limit
  UNION MATCH (n:GraphmemAssertion {group_id: $group}) WHERE n.id IS NOT NULL RETURN n LIMIT $limit
  UNION MATCH (n:GraphmemDecision {group_id: $group}) WHERE n.named IS NOT NULL RETURN n LIMIT $limit
  UNION MATCH (n:GraphmemLink {group_id: $group}) WHERE n.one IS NOT NULL RETURN n LIMIT $limit
  UNION MATCH (n:GraphmemMention {group_id: $group}) WHERE n.episode IS NOT NULL RETURN n LIMIT $limit
  UNION MATCH (n:GraphmemOperation {group_id: $group}) WHERE n.id IS NOT NULL RETURN n LIMIT $limit
  UNION MATCH (n:GraphmemTarget {group_id: $group}) WHERE n.target IS NOT NULL RETURN n LIMIT $limit
}
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS gone

// name: erase_group
// Remove the group's own node and its settings: those whose name goes on with a colon and the group's.
// params: group
CALL () {
  MATCH (m:GraphmemMeta)
  WHERE m.name_index ENDS WITH ':' + $group AND size(split(m.name_index, ':')[0]) + 1 + size($group) = size(m.name_index)
  DELETE m
}
MATCH (g:GraphmemGroup {group_id: $group})
DELETE g
