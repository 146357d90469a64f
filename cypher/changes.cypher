// name: facts_changed
// Fact versions that began or ended to be believed in a stretch.
// params: group, pin, since, until, entities, fact_ids, relations
// returns: found: facts
CALL () {
  MATCH ()-[r:RELATES_TO]->() WHERE r.group_id = $group AND r.gm_from > $since AND r.gm_from <= $until RETURN r
  UNION
  MATCH ()-[r:RELATES_TO]->() WHERE r.group_id = $group AND r.gm_to > $since AND r.gm_to <= $until AND r.gm_ended <= $pin RETURN r
}
WITH r WHERE r.gm_added <= $pin AND ($fact_ids IS NULL OR r.gm_fact_id IN $fact_ids) AND ($relations IS NULL OR r.name IN $relations)
  AND ($entities IS NULL OR r.source_node_uuid IN $entities OR r.target_node_uuid IN $entities)
WITH r ORDER BY r.gm_from, r.uuid
RETURN collect(r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to, .gm_from, .gm_to,
    .gm_ended, .gm_bounds, .gm_attributes}) AS found

// name: facts_changed_by_entity
// Fact versions with one of these entities at either end that began or ended to be believed in a stretch.
// params: group, pin, since, until, entities, fact_ids, relations
// returns: found: facts
UNWIND $entities AS id
MATCH (:Entity {group_id: $group, uuid: id})-[r:RELATES_TO]-()
WHERE r.gm_added <= $pin AND ($fact_ids IS NULL OR r.gm_fact_id IN $fact_ids) AND ($relations IS NULL OR r.name IN $relations)
  AND ($entities IS NULL OR r.source_node_uuid IN $entities OR r.target_node_uuid IN $entities)
  AND ((r.gm_from > $since AND r.gm_from <= $until) OR (r.gm_to > $since AND r.gm_to <= $until AND r.gm_ended <= $pin))
WITH DISTINCT r ORDER BY r.gm_from, r.uuid
RETURN collect(r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to, .gm_from, .gm_to,
    .gm_ended, .gm_bounds, .gm_attributes}) AS found

// name: facts_changed_by_fact
// Versions of these facts that began or ended to be believed in a stretch.
// params: group, pin, since, until, entities, fact_ids, relations
// returns: found: facts
UNWIND $fact_ids AS id
MATCH ()-[r:RELATES_TO {group_id: $group, gm_fact_id: id}]->()
WHERE r.gm_added <= $pin AND ($fact_ids IS NULL OR r.gm_fact_id IN $fact_ids) AND ($relations IS NULL OR r.name IN $relations)
  AND ($entities IS NULL OR r.source_node_uuid IN $entities OR r.target_node_uuid IN $entities)
  AND ((r.gm_from > $since AND r.gm_from <= $until) OR (r.gm_to > $since AND r.gm_to <= $until AND r.gm_ended <= $pin))
WITH DISTINCT r ORDER BY r.gm_from, r.uuid
RETURN collect(r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to, .gm_from, .gm_to,
    .gm_ended, .gm_bounds, .gm_attributes}) AS found

// name: facts_turning
// Fact versions believed whose valid time starts or ends in a stretch.
// params: scopes, since, until, entities, fact_ids, relations
// returns: found: facts
UNWIND $scopes AS s
CALL (s) {
  MATCH ()-[r:RELATES_TO]->() WHERE r.group_id = s.group AND r.gm_valid_from > $since AND r.gm_valid_from <= $until RETURN r
  UNION
  MATCH ()-[r:RELATES_TO]->() WHERE r.group_id = s.group AND r.gm_valid_to > $since AND r.gm_valid_to <= $until RETURN r
}
WITH s, r WHERE r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since AND ($fact_ids IS NULL OR r.gm_fact_id IN $fact_ids) AND ($relations IS NULL OR r.name IN $relations)
  AND ($entities IS NULL OR r.source_node_uuid IN $entities OR r.target_node_uuid IN $entities)
WITH r ORDER BY r.gm_valid_from, r.gm_from, r.uuid
RETURN collect(r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to, .gm_from, .gm_to,
    .gm_ended, .gm_bounds, .gm_attributes}) AS found

// name: citations_changed
// Citations that began or ended to be believed in a stretch.
// params: group, pin, since, until
// returns: found: citations
CALL () {
  MATCH (c:GraphmemCitation) WHERE c.group_id = $group AND c.gm_from > $since AND c.gm_from <= $until RETURN c
  UNION
  MATCH (c:GraphmemCitation) WHERE c.group_id = $group AND c.gm_to > $since AND c.gm_to <= $until AND c.gm_ended <= $pin RETURN c
}
WITH c WHERE c.gm_added <= $pin
RETURN collect(c {.fact_id, .valid_at, .episode, .by, .gm_from, .gm_to, .gm_ended}) AS found

// name: citations_changed_by_fact
// Citations of these facts that began or ended to be believed in a stretch.
// params: group, pin, since, until, ids
// returns: found: citations
UNWIND $ids AS id
MATCH (c:GraphmemCitation {group_id: $group, fact_id: id})
WHERE c.gm_added <= $pin
  AND ((c.gm_from > $since AND c.gm_from <= $until) OR (c.gm_to > $since AND c.gm_to <= $until AND c.gm_ended <= $pin))
RETURN collect(c {.fact_id, .valid_at, .episode, .by, .gm_from, .gm_to, .gm_ended}) AS found

// name: entities_changed
// Entity versions that began or ended to be believed in a stretch.
// params: group, pin, since, until
// returns: found: entities
CALL () {
  MATCH (v:GraphmemEntity) WHERE v.group_id = $group AND v.gm_from > $since AND v.gm_from <= $until RETURN v
  UNION
  MATCH (v:GraphmemEntity) WHERE v.group_id = $group AND v.gm_to > $since AND v.gm_to <= $until AND v.gm_ended <= $pin RETURN v
}
WITH v WHERE v.gm_added <= $pin
RETURN collect(v {.uuid, .id, .group_id, .name, .name_key, .type, .aliases, .attributes, .gm_from, .gm_to, .gm_ended}) AS found

// name: entities_changed_by_id
// Versions of these entities that began or ended to be believed in a stretch.
// params: group, pin, since, until, ids
// returns: found: entities
UNWIND $ids AS id
MATCH (v:GraphmemEntity {group_id: $group, id: id})
WHERE v.gm_added <= $pin
  AND ((v.gm_from > $since AND v.gm_from <= $until) OR (v.gm_to > $since AND v.gm_to <= $until AND v.gm_ended <= $pin))
RETURN collect(v {.uuid, .id, .group_id, .name, .name_key, .type, .aliases, .attributes, .gm_from, .gm_to, .gm_ended}) AS found

// name: entries_written
// Which episodes and which operations were written at these instants.
// params: group, pin, instants
// returns: episodes, operations: ids
RETURN COLLECT {
    UNWIND $instants AS at
    MATCH (e:GraphmemEpisode {group_id: $group, created_at: at}) WHERE e.gm_added <= $pin RETURN e.id
  } AS episodes, COLLECT {
    UNWIND $instants AS at
    MATCH (o:GraphmemOperation {group_id: $group, created_at: at}) WHERE o.gm_added <= $pin RETURN o.id
  } AS operations
