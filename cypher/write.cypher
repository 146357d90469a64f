// name: commit
// Everything that a transaction has gathered, at once. First what ends, then what begins, then what Graphiti's clients see of it.
// params: group, change, open, head, counters, rows
// returns: shown, named, vectors, homeless: how many rows found what they belong to
// All lists are in one parameter: the server would plan anew for every size of a list that is a parameter itself.
MATCH (g:GraphmemGroup {group_id: $group})
SET g.change = $change, g.seq = CASE WHEN $head.seq > g.seq THEN $head.seq ELSE g.seq END,
    g.at = CASE WHEN g.at IS NULL OR $head.at > g.at THEN coalesce($head.at, g.at) ELSE g.at END,
    g.links = g.links + $counters.links, g.targets = g.targets + $counters.targets,
    g.decisions = g.decisions + $counters.decisions,
    g.fact_rows = g.fact_rows + $counters.fact_rows, g.fact_words = g.fact_words + $counters.fact_words,
    g.entity_rows = g.entity_rows + $counters.entity_rows, g.entity_words = g.entity_words + $counters.entity_words,
    g.episode_rows = g.episode_rows + $counters.episode_rows, g.episode_words = g.episode_words + $counters.episode_words,
    g.fact_vectors = g.fact_vectors + $counters.fact_vectors, g.entity_vectors = g.entity_vectors + $counters.entity_vectors,
    g.episode_vectors = g.episode_vectors + $counters.episode_vectors
WITH g

// the log
CALL () { UNWIND $rows.episodes AS row CREATE (n:GraphmemEpisode) SET n = row }
CALL () { UNWIND $rows.assertions AS row CREATE (n:GraphmemAssertion) SET n = row }
CALL () { UNWIND $rows.decisions AS row CREATE (n:GraphmemDecision) SET n = row }
CALL () { UNWIND $rows.links AS row CREATE (n:GraphmemLink) SET n = row }
CALL () { UNWIND $rows.operations AS row CREATE (n:GraphmemOperation) SET n = row }
CALL () { UNWIND $rows.targets AS row CREATE (n:GraphmemTarget) SET n = row }
CALL () { UNWIND $rows.mentions AS row CREATE (n:GraphmemMention) SET n = row }

// which fact each assertion speaks of
CALL () { UNWIND $rows.keys AS row MATCH (a:GraphmemAssertion {group_id: $group, id: row.id}) SET a += row }

// what ends; what never lasted goes
CALL () {
  UNWIND $rows.ended_facts AS x
  MATCH ()-[r:RELATES_TO {group_id: $group, uuid: x.uuid}]->() WHERE r.gm_ended = $open
  SET r.gm_to = x.at, r.gm_ended = $change, r.expired_at = x.moment
}
CALL () {
  UNWIND $rows.ended_entities AS x
  MATCH (v:GraphmemEntity {group_id: $group, uuid: x.uuid}) WHERE v.gm_ended = $open
  SET v.gm_to = x.at, v.gm_ended = $change
  WITH v WHERE v.gm_from >= v.gm_to
  DETACH DELETE v
}
CALL () {
  UNWIND $rows.ended_citations AS x
  MATCH (c:GraphmemCitation {group_id: $group, fact_id: x.fact_id})
  WHERE c.valid_at = x.valid_at AND c.episode = x.episode AND c.by = x.by AND c.gm_ended = $open
  SET c.gm_to = x.at, c.gm_ended = $change
  WITH c WHERE c.gm_from >= c.gm_to
  DELETE c
}
CALL () {
  UNWIND $rows.ended_mentions AS x
  MATCH (m:GraphmemMention {group_id: $group, episode: x.episode})-[r:GRAPHMEM_NAMED]->(e:Entity {uuid: x.entity})
  WHERE m.position = x.position AND r.gm_ended = $open
  SET r.gm_to = x.at, r.gm_ended = $change
  WITH r WHERE r.gm_from >= r.gm_to
  DELETE r
}
CALL () {
  UNWIND $rows.hidden AS x
  MATCH (n:GraphmemEpisode {group_id: $group, id: x.id})
  WITH n, x, size(n.shown) AS length WHERE length > 0 AND n.shown[length - 1] = $open
  SET n.shown = n.shown[..(length - 4)]
      + CASE WHEN n.shown[length - 4] < x.at THEN [n.shown[length - 4], x.at, n.shown[length - 2], $change] ELSE [] END
  REMOVE n.gm_from, n.gm_shown
  WITH n
  MATCH (p:Episodic {group_id: $group, uuid: n.id})
  DETACH DELETE p
}

// entities: the node that Graphiti's clients know shows the version believed now
CALL (g) {
  UNWIND $rows.reworded AS id
  MATCH (e:Entity {group_id: $group, uuid: id}) WHERE e.gm_words IS NOT NULL
  WITH g, e, [token IN split(e.gm_words, ' ') WHERE token <> ''] AS tokens
  SET g.entity_rows = g.entity_rows - 1, g.entity_words = g.entity_words - size(tokens)
  WITH e, tokens
  UNWIND tokens AS token
  WITH DISTINCT e, token
  WITH token, count(*) AS rows
  MATCH (w:GraphmemWord {group_id: $group, kind: 'entity', token: token})
  SET w.rows = w.rows - rows
  WITH w WHERE w.rows <= 0
  DELETE w
}
CALL () {
  UNWIND $rows.entities AS x
  CREATE (v:GraphmemEntity) SET v = x.row
  MERGE (e:Entity {group_id: $group, uuid: x.row.id}) ON CREATE SET e.summary = '', e.created_at = x.moment
  SET e.gm_words = x.words, e.gm_said = x.said, e.gm_scope = x.scope
  WITH x, v, e
  CALL (x, v) {
    UNWIND x.keys AS key
    MERGE (n:GraphmemName {group_id: $group, key: key})
    CREATE (n)-[:GRAPHMEM_OF]->(v)
  }
  WITH x, e WHERE x.row.gm_ended = $open
  WITH x, e, [label IN coalesce(e.gm_labels, []) WHERE NOT label IN x.labels] AS old
  SET e.name = x.row.name, e.labels = x.labels, e.gm_labels = x.labels, e.gm_aliases = x.row.aliases, e.gm_attributes = x.row.attributes
  REMOVE e:$(old)
  SET e:$(x.labels)
  FOREACH (former IN coalesce(e.gm_flat, []) | SET e[former] = null)
  SET e += x.flat, e.gm_flat = keys(x.flat)
}

// facts: a relationship a version
CALL () {
  UNWIND $rows.facts AS x
  MERGE (s:Entity {group_id: $group, uuid: x.source}) ON CREATE SET s.name = x.source, s.summary = '', s.created_at = x.moment
  MERGE (t:Entity {group_id: $group, uuid: x.target}) ON CREATE SET t.name = x.target, t.summary = '', t.created_at = x.moment
  CREATE (s)-[r:RELATES_TO]->(t) SET r = x.row
}

// mentions and citations
CALL () { UNWIND $rows.citations AS row CREATE (c:GraphmemCitation) SET c = row }
CALL () {
  UNWIND $rows.named AS x
  MATCH (m:GraphmemMention {group_id: $group, episode: x.episode}) WHERE m.position = x.position
  MERGE (e:Entity {group_id: $group, uuid: x.row.entity}) ON CREATE SET e.name = x.row.entity, e.summary = '', e.created_at = x.moment
  CREATE (m)-[r:GRAPHMEM_NAMED]->(e) SET r = x.row
  RETURN count(*) AS named
}

// visible episodes
CALL (g) {
  UNWIND $rows.shown AS x
  MATCH (n:GraphmemEpisode {group_id: $group, id: x.id}) WHERE x.words IS NOT NULL AND n.gm_words IS NOT NULL
  WITH g, n, [token IN split(n.gm_words, ' ') WHERE token <> ''] AS tokens
  SET g.episode_rows = g.episode_rows - 1, g.episode_words = g.episode_words - size(tokens)
  WITH n, tokens
  UNWIND tokens AS token
  WITH DISTINCT n, token
  WITH token, count(*) AS rows
  MATCH (w:GraphmemWord {group_id: $group, kind: 'episode', token: token})
  SET w.rows = w.rows - rows
  WITH w WHERE w.rows <= 0
  DELETE w
}
CALL () {
  UNWIND $rows.shown AS x
  MATCH (n:GraphmemEpisode {group_id: $group, id: x.id})
  WITH n, x, size(n.shown) AS length
  SET n.shown = CASE WHEN length > 0 AND n.shown[length - 1] = $open THEN n.shown ELSE n.shown + [x.at, $open, $change, $open] END,
      n.gm_from = CASE WHEN length = 0 THEN x.at ELSE n.gm_from END, n.gm_shown = CASE WHEN length = 0 THEN $change ELSE n.gm_shown END,
      n.gm_words = coalesce(x.words, n.gm_words), n.gm_said = coalesce(x.said, n.gm_said), n.gm_scope = x.scope
  MERGE (p:Episodic {group_id: $group, uuid: n.id})
  SET p.name = coalesce(n.actor, n.source, n.kind) + ', ' + toString(date(n.said_at)), p.source = CASE n.kind WHEN 'facts' THEN 'fact_triple' ELSE n.kind END,
      p.source_description = coalesce(n.source, ''), p.content = n.body, p.valid_at = n.said_at,
      p.created_at = n.kept_at, p.entity_edges = coalesce(p.entity_edges, [])
  RETURN count(*) AS shown
}

// words
CALL () {
  UNWIND $rows.words AS x
  MERGE (w:GraphmemWord {group_id: $group, kind: x.kind, token: x.token}) ON CREATE SET w.rows = 0
  SET w.rows = w.rows + x.rows
}

// vectors; what was staged for their owners is of another text
CALL () {
  UNWIND $rows.revectored AS x
  MATCH (s:GraphmemStagedVector {group_id: $group, kind: x.kind, owner: x.owner})
  DELETE s
}
CALL () {
  UNWIND $rows.fact_vectors AS x
  MATCH ()-[r:RELATES_TO {group_id: $group, uuid: x.owner}]->()
  SET r.gm_halves = x.halves
  WITH r, x
  CALL db.create.setRelationshipVectorProperty(r, 'fact_embedding', x.vector)
  RETURN count(*) AS facts
}
CALL () {
  UNWIND $rows.entity_pieces AS x
  MATCH (e:Entity {group_id: $group, uuid: x.owner}) WHERE e.gm_words IS NOT NULL
  MERGE (p:GraphmemEntityPiece {group_id: $group, owner: x.owner, piece: x.piece})
  SET p.halves = x.halves
  WITH e, p, x
  CALL db.create.setNodeVectorProperty(p, 'embedding', x.vector)
  WITH e, x, count(*) AS done
  CALL (e, x) {
    WITH e, x WHERE x.piece = 0
    CALL db.create.setNodeVectorProperty(e, 'name_embedding', x.vector)
  }
  RETURN count(*) AS names
}
CALL () {
  UNWIND $rows.episode_pieces AS x
  MATCH (n:GraphmemEpisode {group_id: $group, id: x.owner})
  MERGE (p:GraphmemEpisodePiece {group_id: $group, owner: x.owner, piece: x.piece})
  SET p.halves = x.halves
  WITH p, x
  CALL db.create.setNodeVectorProperty(p, 'embedding', x.vector)
  RETURN count(*) AS pieces
}
CALL () {
  UNWIND $rows.copies AS x
  MATCH ()-[old:RELATES_TO {group_id: $group, uuid: x.old}]->() WHERE old.fact_embedding IS NOT NULL
  OPTIONAL MATCH ()-[new:RELATES_TO {group_id: $group, uuid: x.new}]->()
  SET new.gm_halves = old.gm_halves, new.fact_embedding = old.fact_embedding
  RETURN count(*) - count(new) AS homeless
}

// beside the log
CALL () { UNWIND $rows.answers AS x MERGE (a:GraphmemAnswer {key_index: x.key_index}) SET a = x }
CALL () { UNWIND $rows.metas AS x MERGE (m:GraphmemMeta {name_index: x.name_index}) SET m = x }

// what Graphiti's clients see of mentions and citations
CALL () {
  UNWIND $rows.seen_facts AS id
  MATCH ()-[r:RELATES_TO {group_id: $group, gm_fact_id: id}]->() WHERE r.gm_ended = $open
  OPTIONAL MATCH (c:GraphmemCitation {group_id: $group, fact_id: id}) WHERE c.gm_ended = $open AND c.valid_at = r.gm_valid_from
  WITH r, collect(DISTINCT c.episode) AS episodes
  SET r.episodes = episodes
}
CALL () {
  UNWIND $rows.seen_episodes AS id
  MATCH (p:Episodic {group_id: $group, uuid: id})
  CALL (p) {
    MATCH (p)-[old:MENTIONS]->()
    DELETE old
  }
  CALL (p) {
    MATCH (m:GraphmemMention {group_id: $group, episode: p.uuid})-[r:GRAPHMEM_NAMED]->(e:Entity) WHERE r.gm_ended = $open
    WITH DISTINCT p, e
    CREATE (p)-[:MENTIONS {uuid: p.uuid + ':' + e.uuid, group_id: $group, created_at: p.created_at}]->(e)
  }
}
CALL () {
  UNWIND $rows.versioned AS id
  MATCH (c:GraphmemCitation {group_id: $group, fact_id: id}) WHERE c.gm_ended = $open
  RETURN collect(DISTINCT c.episode) AS cited
}
CALL (cited) {
  UNWIND $rows.seen_episodes + [id IN cited WHERE NOT id IN $rows.seen_episodes] AS id
  MATCH (p:Episodic {group_id: $group, uuid: id})
  SET p.entity_edges = COLLECT {
    MATCH (c:GraphmemCitation {group_id: $group, episode: p.uuid}) WHERE c.gm_ended = $open
    MATCH ()-[r:RELATES_TO {group_id: $group, gm_fact_id: c.fact_id}]->() WHERE r.gm_ended = $open AND r.gm_valid_from = c.valid_at
    RETURN DISTINCT r.uuid
  }
}
RETURN shown, named, facts + names + pieces AS vectors, homeless
