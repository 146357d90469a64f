// name: extent
// How many entities and how many facts a group ever had.
// params: group, pin
// returns: entities, facts
RETURN COUNT { MATCH (v:GraphmemEntity {group_id: $group}) WHERE v.id > '' AND v.gm_added <= $pin RETURN DISTINCT v.id } AS entities,
    COUNT { MATCH ()-[r:RELATES_TO {group_id: $group}]->() WHERE r.gm_fact_id > '' AND r.gm_added <= $pin RETURN DISTINCT r.gm_fact_id } AS facts

// name: entity_ids_after
// The next ids of entities that ever had a version.
// params: group, pin, after, limit
// returns: id
MATCH (v:GraphmemEntity {group_id: $group}) WHERE v.id > $after AND v.gm_added <= $pin
RETURN DISTINCT v.id AS id ORDER BY id LIMIT $limit

// name: fact_ids_after
// The next ids of facts that ever had a version.
// params: group, pin, after, limit
// returns: id
MATCH ()-[r:RELATES_TO {group_id: $group}]->() WHERE r.gm_fact_id > $after AND r.gm_added <= $pin
RETURN DISTINCT r.gm_fact_id AS id ORDER BY id LIMIT $limit

// name: citations_ever
// Every citation of these facts.
// params: group, pin, ids
// returns: citation
UNWIND $ids AS id
MATCH (c:GraphmemCitation {group_id: $group, fact_id: id}) WHERE c.gm_added <= $pin
RETURN c {.fact_id, .valid_at, .episode, .by, .gm_from, .gm_to, .gm_ended} AS citation

// name: mentions_ever
// Every mention in these episodes.
// params: group, pin, ids
// returns: mention, entity, system
UNWIND $ids AS id
MATCH (m:GraphmemMention {group_id: $group, episode: id})-[r:GRAPHMEM_NAMED]->(e:Entity) WHERE r.gm_added <= $pin
RETURN properties(m) AS mention, e.uuid AS entity, r {.gm_from, .gm_to, .gm_ended} AS system

// name: shown_ever
// When these episodes were visible: quadruples of begin, end, and the commits that wrote them.
// params: group, ids
// returns: id, shown
UNWIND $ids AS id
MATCH (n:GraphmemEpisode {group_id: $group, id: id}) WHERE size(n.shown) > 0
RETURN n.id AS id, n.shown AS shown

// name: answers_after
// The next recorded answers.
// params: after, limit
// returns: key, value, note
MATCH (a:GraphmemAnswer) WHERE a.key_index > $after
RETURN a.key_index AS key, a.value AS value, a.note AS note ORDER BY key LIMIT $limit
