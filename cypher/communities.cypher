// name: communities_in_groups
// Communities believed at an instant.
// params: scopes, ids, levels
// returns: found: communities
UNWIND $scopes AS s
MATCH (c:GraphmemCommunity {group_id: s.group})
WHERE c.id IS NOT NULL AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
  AND ($ids IS NULL OR c.id IN $ids) AND ($levels IS NULL OR c.level IN $levels)
RETURN collect(c {.uuid, .id, .group_id, .level, .parent, .name, .summary, .facts, .attributes, .gm_from, .gm_to, .gm_ended}) AS found

// name: communities_by_id
// Communities of these ids believed at an instant.
// params: scopes, ids, levels
// returns: found: communities
UNWIND $scopes AS s
UNWIND $ids AS id
MATCH (c:GraphmemCommunity {group_id: s.group, id: id})
WHERE c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
  AND ($levels IS NULL OR c.level IN $levels)
RETURN collect(DISTINCT c {.uuid, .id, .group_id, .level, .parent, .name, .summary, .facts, .attributes, .gm_from, .gm_to, .gm_ended}) AS found

// name: communities_by_uuid
// Versions of these uuids believed at an instant.
// params: scopes, ids
// returns: found: communities
UNWIND $scopes AS s
UNWIND $ids AS id
MATCH (c:GraphmemCommunity {group_id: s.group, uuid: id})
WHERE c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
RETURN collect(DISTINCT c {.uuid, .id, .group_id, .level, .parent, .name, .summary, .facts, .attributes, .gm_from, .gm_to, .gm_ended}) AS found

// name: communities_ever_by_uuid
// Versions of these uuids, believed or not.
// params: group, pin, ids
// returns: found: communities
UNWIND $ids AS id
MATCH (c:GraphmemCommunity {group_id: $group, uuid: id}) WHERE c.gm_added <= $pin
RETURN collect(DISTINCT c {.uuid, .id, .group_id, .level, .parent, .name, .summary, .facts, .attributes, .gm_from, .gm_to, .gm_ended}) AS found

// name: communities_ever
// Every version of a group's communities.
// params: group, pin
// returns: found: communities
MATCH (c:GraphmemCommunity {group_id: $group}) WHERE c.id IS NOT NULL AND c.gm_added <= $pin
RETURN collect(c {.uuid, .id, .group_id, .level, .parent, .name, .summary, .facts, .attributes, .gm_from, .gm_to, .gm_ended}) AS found

// name: members_in_groups
// Memberships believed at an instant.
// params: scopes, level
// returns: found: memberships
UNWIND $scopes AS s
MATCH (m:GraphmemMember {group_id: s.group})
WHERE m.entity IS NOT NULL AND m.gm_added <= s.pin AND m.gm_ended > s.still AND m.gm_from <= s.system AND m.gm_to > s.since
  AND ($level IS NULL OR m.level = $level)
RETURN collect(m {.group_id, .community, .level, .entity, .gm_from, .gm_to, .gm_ended}) AS found

// name: members_of_communities
// Memberships of these communities believed at an instant.
// params: scopes, communities, level
// returns: found: memberships
UNWIND $scopes AS s
UNWIND $communities AS id
MATCH (m:GraphmemMember {group_id: s.group, community: id})
WHERE m.gm_added <= s.pin AND m.gm_ended > s.still AND m.gm_from <= s.system AND m.gm_to > s.since
  AND ($level IS NULL OR m.level = $level)
RETURN collect(DISTINCT m {.group_id, .community, .level, .entity, .gm_from, .gm_to, .gm_ended}) AS found

// name: members_of_entities
// Memberships of these entities believed at an instant.
// params: scopes, entities, communities, level
// returns: found: memberships
UNWIND $scopes AS s
UNWIND $entities AS id
MATCH (m:GraphmemMember {group_id: s.group, entity: id})
WHERE m.gm_added <= s.pin AND m.gm_ended > s.still AND m.gm_from <= s.system AND m.gm_to > s.since
  AND ($communities IS NULL OR m.community IN $communities) AND ($level IS NULL OR m.level = $level)
RETURN collect(DISTINCT m {.group_id, .community, .level, .entity, .gm_from, .gm_to, .gm_ended}) AS found

// name: sizes_in_groups
// How many members the largest communities have at an instant, of one level or all.
// params: scopes, level, limit
// returns: found: pairs of community and members; ids: of the communities
UNWIND $scopes AS s
MATCH (m:GraphmemMember {group_id: s.group})
WHERE m.entity IS NOT NULL AND m.gm_added <= s.pin AND m.gm_ended > s.still AND m.gm_from <= s.system AND m.gm_to > s.since
  AND ($level IS NULL OR m.level = $level)
WITH m.community AS id, count(*) AS members ORDER BY members DESC, id LIMIT $limit
RETURN collect([id, members]) AS found, collect(id) AS ids

// name: sizes_of_communities
// How many members these communities have at an instant.
// params: scopes, ids, level, limit
// returns: found: pairs of community and members
UNWIND $scopes AS s
UNWIND $ids AS id
MATCH (m:GraphmemMember {group_id: s.group, community: id})
WHERE m.gm_added <= s.pin AND m.gm_ended > s.still AND m.gm_from <= s.system AND m.gm_to > s.since
  AND ($level IS NULL OR m.level = $level)
WITH id, count(DISTINCT m) AS members ORDER BY members DESC, id LIMIT $limit
RETURN collect([id, members]) AS found

// name: members_ever
// Every membership of a group there has been.
// params: group, pin
// returns: found: memberships
MATCH (m:GraphmemMember {group_id: $group}) WHERE m.entity IS NOT NULL AND m.gm_added <= $pin
RETURN collect(m {.group_id, .community, .level, .entity, .gm_from, .gm_to, .gm_ended}) AS found

// name: ties_in_groups
// Facts that pass, as edges, with the number of episodes they cite.
// params: scopes
// returns: found: lists of uuid, source, target, valid start, citations
UNWIND $scopes AS s
MATCH ()-[r:RELATES_TO {group_id: s.group}]->()
WHERE r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
  AND r.gm_valid_from <= s.valid_hi AND r.gm_valid_to > s.valid_lo
RETURN collect([r.uuid, r.source_node_uuid, r.target_node_uuid, r.gm_valid_from, COUNT {
    MATCH (c:GraphmemCitation {group_id: s.group, fact_id: r.gm_fact_id})
    WHERE c.valid_at = r.gm_valid_from AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
    RETURN DISTINCT c.episode
}]) AS found

// name: ties_of_entities
// Facts that pass and touch one of these entities, as edges, with the number of episodes they cite.
// params: scopes, entities
// returns: found: lists of uuid, source, target, valid start, citations
UNWIND $scopes AS s
UNWIND $entities AS id
MATCH (:Entity {group_id: s.group, uuid: id})-[r:RELATES_TO]-()
WHERE r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
  AND r.gm_valid_from <= s.valid_hi AND r.gm_valid_to > s.valid_lo
WITH DISTINCT s, r
RETURN collect([r.uuid, r.source_node_uuid, r.target_node_uuid, r.gm_valid_from, COUNT {
    MATCH (c:GraphmemCitation {group_id: s.group, fact_id: r.gm_fact_id})
    WHERE c.valid_at = r.gm_valid_from AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
    RETURN DISTINCT c.episode
}]) AS found

// name: change_communities
// Close versions and open others; then what Graphiti's clients see of them.
// params: group, change, open, at, moment, rows
MATCH (g:GraphmemGroup {group_id: $group})
SET g.change = $change
WITH g
CALL () {
  UNWIND $rows.ended AS uuid
  MATCH (c:GraphmemCommunity {group_id: $group, uuid: uuid}) WHERE c.gm_ended = $open
  SET c.gm_to = $at, c.gm_ended = $change
  RETURN collect(c.id) AS gone
}
CALL (g) {
  UNWIND $rows.ended AS uuid
  MATCH (c:GraphmemCommunity {group_id: $group, uuid: uuid}) WHERE c.gm_from >= c.gm_to AND c.gm_words IS NOT NULL
  WITH g, c, [token IN split(c.gm_words, ' ') WHERE token <> ''] AS tokens
  SET g.community_rows = g.community_rows - 1, g.community_words = g.community_words - size(tokens)
  WITH c, tokens
  UNWIND tokens AS token
  WITH DISTINCT c, token
  WITH token, count(*) AS rows
  MATCH (w:GraphmemWord {group_id: $group, kind: 'community', token: token})
  SET w.rows = w.rows - rows
  WITH w WHERE w.rows <= 0
  DELETE w
}
CALL () {
  UNWIND $rows.ended AS uuid
  MATCH (c:GraphmemCommunity {group_id: $group, uuid: uuid}) WHERE c.gm_from >= c.gm_to
  OPTIONAL MATCH (s:GraphmemStagedVector {group_id: $group, kind: 'community', owner: uuid})
  DELETE s, c
}
CALL () {
  UNWIND $rows.added AS row
  CREATE (c:GraphmemCommunity) SET c = row
  MERGE (p:Community {group_id: $group, uuid: row.id}) ON CREATE SET p.created_at = $moment
  SET p.name = row.name, p.summary = row.summary
}
CALL (gone) {
  UNWIND gone AS id
  MATCH (p:Community {group_id: $group, uuid: id})
  WHERE NOT EXISTS { MATCH (c:GraphmemCommunity {group_id: $group, id: id}) WHERE c.gm_ended = $open }
  DETACH DELETE p
}

// name: index_communities
// Index versions by words, instead of those that they were indexed by.
// params: group, change, rows
// returns: indexed: how many are there
MATCH (g:GraphmemGroup {group_id: $group})
SET g.change = $change
WITH g
CALL (g) {
  UNWIND $rows.texts AS x
  MATCH (c:GraphmemCommunity {group_id: $group, uuid: x.uuid}) WHERE c.gm_words IS NOT NULL
  WITH g, c, [token IN split(c.gm_words, ' ') WHERE token <> ''] AS tokens
  SET g.community_rows = g.community_rows - 1, g.community_words = g.community_words - size(tokens)
  WITH c, tokens
  UNWIND tokens AS token
  WITH DISTINCT c, token
  WITH token, count(*) AS rows
  MATCH (w:GraphmemWord {group_id: $group, kind: 'community', token: token})
  SET w.rows = w.rows - rows
  WITH w WHERE w.rows <= 0
  DELETE w
}
CALL () {
  UNWIND $rows.words AS x
  MERGE (w:GraphmemWord {group_id: $group, kind: 'community', token: x.token}) ON CREATE SET w.rows = 0
  SET w.rows = w.rows + x.rows
}
CALL () {
  UNWIND $rows.texts AS x
  MATCH (c:GraphmemCommunity {group_id: $group, uuid: x.uuid})
  SET c.gm_words = x.words, c.gm_said = x.said, c.gm_scope = x.scope
  RETURN count(*) AS indexed
}
SET g.community_rows = g.community_rows + $rows.counters.rows, g.community_words = g.community_words + $rows.counters.words
RETURN indexed

// name: put_community_vectors
// Keep vectors; what was staged for their owners is of another text. Graphiti's clients see those of communities believed now.
// params: group, change, open, rows
// returns: kept: how many have an owner
MATCH (g:GraphmemGroup {group_id: $group})
SET g.change = $change, g.community_vectors = g.community_vectors + size($rows.vectors)
WITH g
CALL () {
  UNWIND $rows.vectors AS x
  MATCH (s:GraphmemStagedVector {group_id: $group, kind: 'community', owner: x.owner})
  DELETE s
}
CALL () {
  UNWIND $rows.vectors AS x
  MATCH (c:GraphmemCommunity {group_id: $group, uuid: x.owner})
  SET c.gm_halves = x.halves
  WITH c, x
  CALL db.create.setNodeVectorProperty(c, 'gm_embedding', x.vector)
  RETURN count(*) AS kept
}
CALL () {
  UNWIND $rows.vectors AS x
  MATCH (c:GraphmemCommunity {group_id: $group, uuid: x.owner}) WHERE c.gm_ended = $open
  MATCH (p:Community {group_id: $group, uuid: c.id})
  CALL db.create.setNodeVectorProperty(p, 'name_embedding', x.vector)
}
RETURN kept

// name: change_members
// Close memberships and open others; then what Graphiti's clients see of them.
// params: group, change, open, at, moment, rows
// returns: added: how many found their entity
MATCH (g:GraphmemGroup {group_id: $group})
SET g.change = $change
WITH g
CALL () {
  UNWIND $rows.ended AS x
  MATCH (m:GraphmemMember {group_id: $group, entity: x.entity}) WHERE m.level = x.level AND m.gm_ended = $open
  SET m.gm_to = $at, m.gm_ended = $change
  WITH m
  CALL (m) {
    MATCH (:Community {group_id: $group, uuid: m.community})-[h:HAS_MEMBER]->(:Entity {group_id: $group, uuid: m.entity})
    DELETE h
  }
  WITH m WHERE m.gm_from >= m.gm_to
  DELETE m
}
CALL () {
  UNWIND $rows.added AS row
  MATCH (e:Entity {group_id: $group, uuid: row.entity}) WHERE e.gm_words IS NOT NULL
  CREATE (m:GraphmemMember) SET m = row
  WITH row, e
  CALL (row, e) {
    MATCH (p:Community {group_id: $group, uuid: row.community})
    CREATE (p)-[:HAS_MEMBER {uuid: row.community + ':' + row.entity, group_id: $group, created_at: $moment}]->(e)
  }
  RETURN count(*) AS added
}
RETURN added

// name: clear_some_communities
// Remove some communities of a group with their members.
// params: group, limit
// returns: gone
CALL () {
  MATCH (n:GraphmemCommunity {group_id: $group}) WHERE n.id IS NOT NULL RETURN n LIMIT $limit
  UNION MATCH (n:GraphmemMember {group_id: $group}) WHERE n.entity IS NOT NULL RETURN n LIMIT $limit
  UNION MATCH (n:Community {group_id: $group}) WHERE n.uuid IS NOT NULL RETURN n LIMIT $limit
}
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS gone

// name: members_without_community
// Memberships in a community that is not there.
// returns: kind, id
MATCH (m:GraphmemMember)
WHERE NOT EXISTS { MATCH (c:GraphmemCommunity {group_id: m.group_id, id: m.community}) WHERE c.level = m.level }
RETURN DISTINCT 'community' AS kind, m.community AS id

// name: overlapping_members
// Entities with two communities on one level at one instant.
// returns: kind, id
MATCH (a:GraphmemMember)
MATCH (b:GraphmemMember {group_id: a.group_id, entity: a.entity})
WHERE a.level = b.level AND elementId(a) < elementId(b) AND a.gm_from < b.gm_to AND b.gm_from < a.gm_to
RETURN DISTINCT 'entity' AS kind, a.entity AS id

// name: overlapping_communities
// Communities with two versions believed at one instant.
// returns: kind, id
MATCH (a:GraphmemCommunity)
MATCH (b:GraphmemCommunity {group_id: a.group_id, id: a.id})
WHERE a.uuid < b.uuid AND a.gm_from < b.gm_to AND b.gm_from < a.gm_to
RETURN DISTINCT 'community' AS kind, a.id AS id

// name: communities_that_differ
// Communities believed now that Graphiti's clients see otherwise, or not at all, and those that they see and nobody believes.
// returns: kind, id
CALL () {
  MATCH (c:GraphmemCommunity) WHERE c.gm_ended = 4611686018427387904
    AND NOT EXISTS { MATCH (p:Community {group_id: c.group_id, uuid: c.id}) WHERE p.name = c.name AND p.summary = c.summary }
  RETURN c.id AS id
  UNION
  MATCH (c:GraphmemCommunity) WHERE c.gm_ended <> 4611686018427387904
    AND EXISTS { MATCH (:Community {group_id: c.group_id, uuid: c.id}) }
    AND NOT EXISTS { MATCH (o:GraphmemCommunity {group_id: c.group_id, id: c.id}) WHERE o.gm_ended = 4611686018427387904 }
  RETURN c.id AS id
}
RETURN 'community' AS kind, id
