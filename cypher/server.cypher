// name: server
// Which version of Neo4j answers.
// returns: version
CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions[0] AS version

// name: schema_version
// The schema of what is stored, and whether its vector indexes filter; none before the first opening.
// returns: version, filtered
OPTIONAL MATCH (s:GraphmemStore {id: 1}) RETURN s.schema AS version, coalesce(s.filtered, false) AS filtered

// name: keep_schema_version
// Say which schema this is.
// params: version, filtered
MERGE (s:GraphmemStore {id: 1}) SET s.schema = $version, s.filtered = $filtered

// name: one_store
// Leave one of the nodes that say the schema: two processes that opened a new database at once could make one each.
MATCH (s:GraphmemStore {id: 1})
WITH s ORDER BY s.schema
WITH collect(s) AS every
UNWIND every[1..] AS other
DELETE other

// name: await_indexes
// Wait until every index can be used.
// params: seconds
CALL db.awaitIndexes($seconds)

// name: lock
// Take the group's write lock: held until the transaction ends. The state is read again once the lock is had.
// Settings that were asked for before come with it. The last writer to have committed is told before this one takes its place.
// params: group, metas, writer
// returns: change, seq, at, links, targets, decisions, fact, entity, episode, community, last, metas
MERGE (g:GraphmemGroup {group_id: $group})
ON CREATE SET g.seq = 0, g.change = 0, g.writers = 0, g.links = 0, g.targets = 0, g.decisions = 0,
    g.fact_rows = 0, g.fact_words = 0, g.entity_rows = 0, g.entity_words = 0, g.episode_rows = 0, g.episode_words = 0,
    g.community_rows = 0, g.community_words = 0,
    g.fact_vectors = 0, g.entity_vectors = 0, g.episode_vectors = 0, g.community_vectors = 0
SET g.writers = g.writers + 1
WITH count(*) AS taken
MATCH (g:GraphmemGroup {group_id: $group})
WITH g, g.writer AS last
SET g.writer = $writer
RETURN g.change AS change, g.seq AS seq, g.at AS at, g.links AS links, g.targets AS targets, g.decisions AS decisions,
    g.fact_vectors AS fact, g.entity_vectors AS entity, g.episode_vectors AS episode,
    g.community_vectors AS community, last,
    COLLECT { UNWIND $metas AS name MATCH (m:GraphmemMeta {name_index: name}) RETURN [name, m.value] } AS metas

// name: state
// How far the log of each group has come, and settings kept with the data.
// params: groups, metas
// returns: groups: maps as the columns of `lock`, with group_id; metas: pairs of index key and value
RETURN COLLECT {
    UNWIND $groups AS id
    MATCH (g:GraphmemGroup {group_id: id})
    RETURN {group_id: g.group_id, change: g.change, seq: g.seq, at: g.at, links: g.links, targets: g.targets, decisions: g.decisions,
        fact: g.fact_vectors, entity: g.entity_vectors, episode: g.episode_vectors, community: g.community_vectors}
  } AS groups,
  COLLECT { UNWIND $metas AS name MATCH (m:GraphmemMeta {name_index: name}) RETURN [name, m.value] } AS metas

// name: group_names
// Groups with a log.
// returns: group_id
MATCH (g:GraphmemGroup) WHERE g.seq > 0 RETURN g.group_id AS group_id

// name: scoped
// What passes in those groups that exist: the points asked for, with how far each group has come.
// params: points, groups
// returns: scopes: as every read takes them
UNWIND $points AS point
UNWIND $groups AS g
WITH point, g WHERE g.group_id = point.group
RETURN collect(point {.*, pin: g.change, still: coalesce(point.still, g.change)}) AS scopes
