// name: reach
// The entities one fact away from these, each by the first edge that leads there: newest valid start first, then uuid. None where
// as many as `limit` are known.
// params: scopes, frontier, known, uuids, fact_ids, sources, targets, entities, relations, overlaps_start, overlaps_end, limit, type
// returns: found: entity, fact and previous of each; frontier: those that are no values; known: all that are known by now
UNWIND $scopes AS s
UNWIND CASE WHEN size($known) < $limit THEN $frontier ELSE [] END AS id
MATCH (e:Entity {group_id: s.group, uuid: id})-[r:RELATES_TO]-(o:Entity)
WHERE NOT o.uuid IN $known AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
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
WITH collect([entity, first]) AS every
WITH every[..$limit - size($known)] AS reached
CALL (reached) {
  UNWIND reached AS x
  WITH x[0] AS entity, x[1] AS first
  WITH entity, first, EXISTS {
    MATCH (v:GraphmemEntity {group_id: first.scope.group, id: entity})
    WHERE v.type = $type AND v.gm_added <= first.scope.pin AND v.gm_ended > first.scope.still
      AND v.gm_from <= first.scope.system AND v.gm_to > first.scope.since } AS is_value
  RETURN collect([entity, first.fact, first.previous]) AS found, collect(CASE WHEN NOT is_value THEN entity END) AS frontier
}
RETURN found, frontier, $known + [x IN found | x[0]] AS known

// name: meant
// Of these entities, the first that are near enough in meaning and no values, by name.
// params: scopes, owners, vector, limit, cosine, type
// returns: ids
UNWIND $owners AS owner
WITH DISTINCT owner
UNWIND $scopes AS s
MATCH (p:GraphmemEntityPiece {group_id: s.group, owner: owner}) WHERE size(p.embedding) = size($vector)
WITH s, owner, max(2 * vector.similarity.cosine(p.embedding, $vector) - 1) AS cosine ORDER BY cosine DESC, owner LIMIT $limit
WITH s, owner WHERE cosine >= $cosine
MATCH (v:GraphmemEntity {group_id: s.group, id: owner})
WHERE v.type <> $type AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
WITH DISTINCT v ORDER BY v.name_key, v.id
RETURN collect(v.id) AS ids
