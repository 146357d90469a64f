// name: script_store
// Say which schema this is, where nothing says it yet: that of a server whose vector indexes cannot filter.
// params: version
MERGE (s:GraphmemStore {id: 1}) ON CREATE SET s.schema = $version, s.filtered = false

// name: script_begin
// Take a group whose log is empty, in a database of this schema and embedder. Anything else is left as it is: what follows finds no
// group of this script. Until the script ends, a setting says that the group is not whole.
// params: group, script, version, mark, value, embedder
MATCH (s:GraphmemStore {id: 1, schema: $version})
WHERE NOT EXISTS { MATCH (m:GraphmemMeta {name_index: 'embedder'}) WHERE m.value <> $embedder }
  AND NOT EXISTS { MATCH (m:GraphmemMeta {name_index: $mark}) WHERE m.value <> '' AND m.value <> $value }
MERGE (g:GraphmemGroup {group_id: $group})
ON CREATE SET g.seq = 0, g.change = 0, g.writers = 0
WITH g WHERE g.seq = 0 AND coalesce(g.gm_script, $script) = $script
SET g.gm_script = $script
MERGE (m:GraphmemMeta {name_index: $mark}) SET m.value = $value
FOREACH (name IN CASE WHEN $embedder IS NULL THEN [] ELSE [$embedder] END |
  MERGE (e:GraphmemMeta {name_index: 'embedder'}) SET e.value = name)

// name: script_episodes
// Episodes as the log keeps them.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (n:GraphmemEpisode {group_id: $group, id: x.id}) SET n = x

// name: script_assertions
// What episodes say.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (n:GraphmemAssertion {group_id: $group, id: x.id}) SET n = x

// name: script_decisions
// Which assertions name which.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (:GraphmemDecision {group_id: $group, named: x.named, assertion: x.assertion})

// name: script_links
// Which entities episodes say are one.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (n:GraphmemLink {group_id: $group, episode: x.episode, position: x.position}) SET n = x

// name: script_mentions
// Where episodes name entities.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (n:GraphmemMention {group_id: $group, episode: x.episode, position: x.position}) SET n = x

// name: script_operations
// What was done.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (n:GraphmemOperation {group_id: $group, id: x.id}) SET n = x

// name: script_targets
// What it was done to.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (:GraphmemTarget {group_id: $group, target: x.target, operation: x.operation})

// name: script_visible
// Episodes that are visible, as Graphiti's clients read them.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (n:Episodic {group_id: $group, uuid: x.uuid}) SET n = x

// name: script_named
// For which entity each mention counted when.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MATCH (m:GraphmemMention {group_id: $group, episode: x.episode}) WHERE m.position = x.position
MERGE (e:Entity {group_id: $group, uuid: x.row.entity}) ON CREATE SET e.name = x.row.entity, e.summary = '', e.created_at = x.moment
MERGE (m)-[r:GRAPHMEM_NAMED {gm_from: x.row.gm_from}]->(e) SET r = x.row

// name: script_mentioned
// Which entities visible episodes mention, as Graphiti's clients read it.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MATCH (p:Episodic {group_id: $group, uuid: x.episode})
MATCH (e:Entity {group_id: $group, uuid: x.entity})
MERGE (p)-[r:MENTIONS {uuid: x.episode + ':' + x.entity}]->(e) SET r.group_id = $group, r.created_at = p.created_at

// name: script_episode_pieces
// Vectors of the pieces of episodes.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (p:GraphmemEpisodePiece {group_id: $group, owner: x.owner, piece: x.piece}) SET p.halves = x.halves
WITH p, [number IN split(x.vector, ' ') | toFloat(number)] AS vector
CALL db.create.setNodeVectorProperty(p, 'embedding', vector)

// name: script_versions
// Entities, a node a version, and their names.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (v:GraphmemEntity {group_id: $group, uuid: x.uuid}) SET v = x
WITH v, x
UNWIND x.keys AS key
MERGE (n:GraphmemName {group_id: $group, key: key})
MERGE (n)-[:GRAPHMEM_OF]->(v)

// name: script_shown
// Entities as Graphiti's clients read them.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (e:Entity {group_id: $group, uuid: x.row.uuid})
SET e += x.row, e.summary = coalesce(e.summary, '')
SET e:$(x.labels)

// name: script_entity_pieces
// Vectors of the names of entities.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (p:GraphmemEntityPiece {group_id: $group, owner: x.owner, piece: x.piece}) SET p.halves = x.halves
WITH p, x, [number IN split(x.vector, ' ') | toFloat(number)] AS vector
CALL db.create.setNodeVectorProperty(p, 'embedding', vector)
WITH x, vector WHERE x.piece = 0
MATCH (e:Entity {group_id: $group, uuid: x.owner})
CALL db.create.setNodeVectorProperty(e, 'name_embedding', vector)

// name: script_facts
// Facts, a relationship a version.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (s:Entity {group_id: $group, uuid: x.source}) ON CREATE SET s.name = x.source, s.summary = '', s.created_at = x.moment
MERGE (t:Entity {group_id: $group, uuid: x.target}) ON CREATE SET t.name = x.target, t.summary = '', t.created_at = x.moment
MERGE (s)-[r:RELATES_TO {group_id: $group, uuid: x.row.uuid}]->(t) SET r = x.row
WITH r, x WHERE x.vector IS NOT NULL
CALL db.create.setRelationshipVectorProperty(r, 'fact_embedding', [number IN split(x.vector, ' ') | toFloat(number)])

// name: script_citations
// What cites facts, and when it counted.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (c:GraphmemCitation {group_id: $group, fact_id: x.fact_id, valid_at: x.valid_at, episode: x.episode, by: x.by, gm_from: x.gm_from})
SET c = x

// name: script_edges
// Which facts visible episodes are behind, as Graphiti's clients read it.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MATCH (p:Episodic {group_id: $group, uuid: x.episode})
SET p.entity_edges = [fact IN p.entity_edges WHERE NOT fact IN x.facts] + x.facts

// name: script_communities
// Communities, a node a version.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (c:GraphmemCommunity {group_id: $group, uuid: x.uuid}) SET c = x

// name: script_community_pieces
// Vectors of communities; Graphiti's clients read those of the ones believed now.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MATCH (c:GraphmemCommunity {group_id: $group, uuid: x.owner}) SET c.gm_halves = x.halves
WITH c, [number IN split(x.vector, ' ') | toFloat(number)] AS vector
CALL db.create.setNodeVectorProperty(c, 'gm_embedding', vector)
WITH c, vector WHERE c.gm_ended = 4611686018427387904
MATCH (p:Community {group_id: $group, uuid: c.id})
CALL db.create.setNodeVectorProperty(p, 'name_embedding', vector)

// name: script_shown_communities
// Communities believed now, as Graphiti's clients read them.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (c:Community {group_id: $group, uuid: x.uuid}) SET c = x

// name: script_members
// Who was in them when.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (m:GraphmemMember {group_id: $group, entity: x.entity, level: x.level, gm_from: x.gm_from}) SET m = x

// name: script_shown_members
// Who is in them now, as Graphiti's clients read it.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MATCH (c:Community {group_id: $group, uuid: x.community})
MATCH (e:Entity {group_id: $group, uuid: x.entity})
MERGE (c)-[h:HAS_MEMBER {uuid: x.community + ':' + x.entity}]->(e) SET h.group_id = $group, h.created_at = x.created_at

// name: script_words
// In how many rows each word occurs.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (w:GraphmemWord {group_id: $group, kind: x.kind, token: x.token}) SET w.rows = x.rows

// name: script_metas
// Settings kept with the group.
// params: group, script, rows
MATCH (:GraphmemGroup {group_id: $group, gm_script: $script})
UNWIND $rows AS x
MERGE (m:GraphmemMeta {name_index: x.name_index}) SET m = x

// name: script_end
// The group is whole.
// params: group, script, mark, state
MATCH (g:GraphmemGroup {group_id: $group, gm_script: $script})
MATCH (m:GraphmemMeta {name_index: $mark})
SET g += $state, m.value = ''
REMOVE g.gm_script

// name: script_told
// What whoever runs the script is told.
// params: group, state
// returns: group_id, outcome
OPTIONAL MATCH (g:GraphmemGroup {group_id: $group})
RETURN $group AS group_id, CASE WHEN g.seq = $state.seq AND g.at = $state.at THEN 'is as in this script'
  ELSE 'was left as it is: it holds something else, or the database is of another graphmem or embedder' END AS outcome
