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

// name: clear_facts
// Remove every fact version of a group.
// params: group
MATCH ()-[r:RELATES_TO {group_id: $group}]->() DELETE r

// name: clear_keys
// Forget which fact each assertion of a group speaks of.
// params: group
MATCH (a:GraphmemAssertion {group_id: $group}) WHERE a.id IS NOT NULL
REMOVE a.keyed, a.fact_id, a.key_relation, a.key_source, a.key_target, a.key_variant

// name: clear_citations
// Remove every citation of a group.
// params: group
MATCH (c:GraphmemCitation {group_id: $group}) WHERE c.fact_id IS NOT NULL DELETE c

// name: clear_entities
// Remove every entity of a group with its versions, names, vectors, mentions.
// params: group
CALL () { MATCH (n:GraphmemEntity {group_id: $group}) WHERE n.uuid IS NOT NULL DETACH DELETE n }
CALL () { MATCH (n:GraphmemName {group_id: $group}) WHERE n.key IS NOT NULL DETACH DELETE n }
CALL () { MATCH (n:GraphmemEntityPiece {group_id: $group}) WHERE n.owner IS NOT NULL AND n.piece IS NOT NULL DELETE n }
CALL () { MATCH (n:Entity {group_id: $group}) WHERE n.uuid IS NOT NULL DETACH DELETE n }

// name: clear_episodes
// Hide every episode of a group and remove its words and vectors; the log stays.
// params: group
MATCH (g:GraphmemGroup {group_id: $group})
CALL () { MATCH (p:GraphmemEpisodePiece {group_id: $group}) WHERE p.owner IS NOT NULL AND p.piece IS NOT NULL DELETE p }
CALL () { MATCH (p:Episodic {group_id: $group}) WHERE p.uuid IS NOT NULL DETACH DELETE p }
CALL () { MATCH (n:GraphmemEpisode {group_id: $group}) WHERE n.seq IS NOT NULL SET n.shown = [] REMOVE n.gm_words, n.gm_said, n.gm_scope }

// name: clear_words
// Count no words of a group.
// params: group, change
MATCH (g:GraphmemGroup {group_id: $group})
SET g.change = $change, g.fact_rows = 0, g.fact_words = 0, g.entity_rows = 0, g.entity_words = 0, g.episode_rows = 0, g.episode_words = 0,
    g.fact_vectors = 0, g.entity_vectors = 0, g.episode_vectors = 0
WITH g
CALL () { MATCH (w:GraphmemWord {group_id: $group}) WHERE w.kind IS NOT NULL AND w.token IS NOT NULL DELETE w }

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
