// name: reach
// The entities one fact away from these, each by the first edge that leads there: newest valid start first, then uuid.
// params: scopes, frontier, found, uuids, fact_ids, sources, targets, entities, relations, overlaps_start, overlaps_end, limit, type
// returns: entity, fact, previous, is_value
UNWIND $scopes AS s
UNWIND $frontier AS id
MATCH (e:Entity {group_id: s.group, uuid: id})-[r:RELATES_TO]-(o:Entity)
WHERE NOT o.uuid IN $found AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
  AND r.gm_valid_from <= s.valid_hi AND r.gm_valid_to > s.valid_lo
  AND ($uuids IS NULL OR r.uuid IN $uuids) AND ($fact_ids IS NULL OR r.gm_fact_id IN $fact_ids)
  AND ($sources IS NULL OR r.source_node_uuid IN $sources) AND ($targets IS NULL OR r.target_node_uuid IN $targets)
  AND ($entities IS NULL OR r.source_node_uuid IN $entities OR r.target_node_uuid IN $entities)
  AND ($relations IS NULL OR r.name IN $relations)
  AND r.gm_valid_from < $overlaps_end AND r.gm_valid_to > $overlaps_start
WITH s, o, r, e.uuid AS previous
ORDER BY r.gm_valid_from DESC, r.uuid
WITH o.uuid AS entity, collect({start: r.gm_valid_from, fact: r.uuid, previous: previous, scope: s})[0] AS first
ORDER BY first.start DESC, first.fact
LIMIT $limit
RETURN entity, first.fact AS fact, first.previous AS previous, EXISTS {
  MATCH (v:GraphmemEntity {group_id: first.scope.group, id: entity})
  WHERE v.type = $type AND v.gm_added <= first.scope.pin AND v.gm_ended > first.scope.still
    AND v.gm_from <= first.scope.system AND v.gm_to > first.scope.since } AS is_value
