// name: load_episodes
// Episodes with all that was ever derived from them, as another store kept it; `seen` are those that the log has already.
// params: group, change, head, counters, rows
// returns: named, vectors: how many rows found what they belong to
MATCH (g:GraphmemGroup {group_id: $group})
SET g.change = $change, g.seq = CASE WHEN $head.seq > g.seq THEN $head.seq ELSE g.seq END,
    g.at = CASE WHEN g.at IS NULL OR $head.at > g.at THEN coalesce($head.at, g.at) ELSE g.at END,
    g.links = g.links + $counters.links, g.decisions = g.decisions + $counters.decisions,
    g.episode_rows = g.episode_rows + $counters.rows, g.episode_words = g.episode_words + $counters.words,
    g.episode_vectors = g.episode_vectors + $counters.vectors
WITH g
CALL () { UNWIND $rows.episodes AS row CREATE (n:GraphmemEpisode) SET n = row }
CALL () { UNWIND $rows.assertions AS row CREATE (n:GraphmemAssertion) SET n = row }
CALL () { UNWIND $rows.decisions AS row CREATE (n:GraphmemDecision) SET n = row }
CALL () { UNWIND $rows.links AS row CREATE (n:GraphmemLink) SET n = row }
CALL () { UNWIND $rows.mentions AS row CREATE (n:GraphmemMention) SET n = row }
CALL () { UNWIND $rows.seen AS x MATCH (n:GraphmemEpisode {group_id: $group, id: x.id}) SET n += x }
CALL () { UNWIND $rows.keys AS x MATCH (a:GraphmemAssertion {group_id: $group, id: x.id}) SET a += x }
CALL () { UNWIND $rows.visible AS row CREATE (p:Episodic) SET p = row }
CALL () {
  UNWIND $rows.named AS x
  MATCH (m:GraphmemMention {group_id: $group, episode: x.episode}) WHERE m.position = x.position
  MERGE (e:Entity {group_id: $group, uuid: x.row.entity}) ON CREATE SET e.name = x.row.entity, e.summary = '', e.created_at = x.moment
  CREATE (m)-[r:GRAPHMEM_NAMED]->(e) SET r = x.row
  RETURN count(*) AS named
}
CALL () {
  UNWIND $rows.mentioned AS row
  MATCH (p:Episodic {group_id: $group, uuid: row.episode})
  MATCH (e:Entity {group_id: $group, uuid: row.entity})
  CREATE (p)-[:MENTIONS {uuid: row.episode + ':' + row.entity, group_id: $group, created_at: p.created_at}]->(e)
}
CALL () {
  UNWIND $rows.words AS x
  MERGE (w:GraphmemWord {group_id: $group, kind: 'episode', token: x.token}) ON CREATE SET w.rows = 0
  SET w.rows = w.rows + x.rows
}
CALL () {
  UNWIND $rows.pieces AS x
  CREATE (p:GraphmemEpisodePiece {group_id: $group, owner: x.owner, piece: x.piece, halves: x.halves})
  WITH p, x
  CALL db.create.setNodeVectorProperty(p, 'embedding', x.vector)
  RETURN count(*) AS vectors
}
RETURN named, vectors

// name: load_entities
// Entities with every version that they had; their node shows the last.
// params: group, change, counters, rows
// returns: vectors: how many rows found what they belong to
MATCH (g:GraphmemGroup {group_id: $group})
SET g.change = $change, g.entity_rows = g.entity_rows + $counters.rows, g.entity_words = g.entity_words + $counters.words,
    g.entity_vectors = g.entity_vectors + $counters.vectors
WITH g
CALL () {
  UNWIND $rows.versions AS row
  CREATE (v:GraphmemEntity) SET v = row
  WITH v, row
  UNWIND row.keys AS key
  MERGE (n:GraphmemName {group_id: $group, key: key})
  CREATE (n)-[:GRAPHMEM_OF]->(v)
}
CALL () {
  UNWIND $rows.shown AS x
  MERGE (e:Entity {group_id: $group, uuid: x.row.uuid})
  SET e += x.row, e.summary = coalesce(e.summary, '')
  SET e:$(x.labels)
}
CALL () {
  UNWIND $rows.words AS x
  MERGE (w:GraphmemWord {group_id: $group, kind: 'entity', token: x.token}) ON CREATE SET w.rows = 0
  SET w.rows = w.rows + x.rows
}
CALL () {
  UNWIND $rows.pieces AS x
  CREATE (p:GraphmemEntityPiece {group_id: $group, owner: x.owner, piece: x.piece, halves: x.halves})
  WITH p, x
  CALL db.create.setNodeVectorProperty(p, 'embedding', x.vector)
  WITH x WHERE x.piece = 0
  MATCH (e:Entity {group_id: $group, uuid: x.owner})
  CALL db.create.setNodeVectorProperty(e, 'name_embedding', x.vector)
}
RETURN size($rows.pieces) AS vectors

// name: load_facts
// Facts with every version that they had, and everything that ever cited them.
// params: group, change, counters, rows
// returns: vectors: how many rows found what they belong to
MATCH (g:GraphmemGroup {group_id: $group})
SET g.change = $change, g.fact_rows = g.fact_rows + $counters.rows, g.fact_words = g.fact_words + $counters.words,
    g.fact_vectors = g.fact_vectors + $counters.vectors
WITH g
CALL () {
  UNWIND $rows.facts AS x
  MERGE (s:Entity {group_id: $group, uuid: x.source}) ON CREATE SET s.name = x.source, s.summary = '', s.created_at = x.moment
  MERGE (t:Entity {group_id: $group, uuid: x.target}) ON CREATE SET t.name = x.target, t.summary = '', t.created_at = x.moment
  CREATE (s)-[r:RELATES_TO]->(t) SET r = x.row
  WITH r, x WHERE x.vector IS NOT NULL
  CALL db.create.setRelationshipVectorProperty(r, 'fact_embedding', x.vector)
  RETURN count(*) AS vectors
}
CALL () { UNWIND $rows.citations AS row CREATE (c:GraphmemCitation) SET c = row }
CALL () {
  UNWIND $rows.words AS x
  MERGE (w:GraphmemWord {group_id: $group, kind: 'fact', token: x.token}) ON CREATE SET w.rows = 0
  SET w.rows = w.rows + x.rows
}
CALL () {
  UNWIND $rows.edges AS x
  MATCH (p:Episodic {group_id: $group, uuid: x.episode})
  SET p.entity_edges = p.entity_edges + x.facts
}
RETURN vectors
