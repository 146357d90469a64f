// name: scan_fact
// The nearest fact versions that pass, by comparing all.
// params: scopes, vector, limit, uuids, fact_ids, sources, targets, entities, relations, overlaps_start, overlaps_end, pairs, ends, cited
// returns: found: id, piece, halves, and attributes if these are asked for; whole: whether nothing else passes
UNWIND $scopes AS s
CALL (s) {
  MATCH ()-[r:RELATES_TO {group_id: s.group}]->()
  WHERE r.gm_halves IS NOT NULL AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
  AND r.gm_valid_from <= s.valid_hi AND r.gm_valid_to > s.valid_lo
  AND ($uuids IS NULL OR r.uuid IN $uuids) AND ($fact_ids IS NULL OR r.gm_fact_id IN $fact_ids)
  AND ($sources IS NULL OR r.source_node_uuid IN $sources) AND ($targets IS NULL OR r.target_node_uuid IN $targets)
  AND ($entities IS NULL OR r.source_node_uuid IN $entities OR r.target_node_uuid IN $entities)
  AND ($relations IS NULL OR r.name IN $relations)
  AND r.gm_valid_from < $overlaps_end AND r.gm_valid_to > $overlaps_start
  AND ($pairs IS NULL OR r.gm_attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE r.gm_attributes CONTAINS pair))
  AND ($ends IS NULL OR EXISTS {
    UNWIND [r.source_node_uuid, r.target_node_uuid] AS side
    MATCH (v:GraphmemEntity {group_id: s.group, id: side})
    WHERE v.type IN $ends AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since })
  AND ($cited IS NULL OR EXISTS {
    MATCH (c:GraphmemCitation {group_id: s.group, fact_id: r.gm_fact_id})
    WHERE c.valid_at = r.gm_valid_from AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
    MATCH (e:GraphmemEpisode {group_id: s.group, id: c.episode})
    WHERE ($cited.sessions IS NULL OR e.session IN $cited.sessions) AND ($cited.actors IS NULL OR e.actor IN $cited.actors)
      AND ($cited.sources IS NULL OR e.source IN $cited.sources) AND e.reference_time >= $cited.first AND e.reference_time < $cited.last
      AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
        ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
        AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END })
  WITH r WHERE size(r.fact_embedding) = size($vector)
  WITH r ORDER BY vector.similarity.cosine(r.fact_embedding, $vector) DESC LIMIT $limit
  RETURN collect([r.uuid, 0, r.gm_halves, CASE WHEN $pairs IS NOT NULL THEN r.gm_attributes END]) AS found, count(*) < $limit AS whole
}
WITH reduce(every = [], some IN collect(found) | every + some) AS found, all(ended IN collect(whole) WHERE ended) AS whole
RETURN found, whole

// name: scan_entity
// The nearest names of entities that pass, by comparing all.
// params: scopes, vector, limit, ids, types, keys, pairs
// returns: found: id, piece, halves, and attributes if these are asked for; whole: whether nothing else passes; owners: of the first
UNWIND $scopes AS s
CALL (s) {
  MATCH (v:GraphmemEntity {group_id: s.group})
  WHERE v.id IS NOT NULL AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
  AND ($ids IS NULL OR v.id IN $ids) AND ($types IS NULL OR v.type IN $types) AND ($keys IS NULL OR any(key IN v.keys WHERE key IN $keys))
  AND ($pairs IS NULL OR v.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE v.attributes CONTAINS pair))
  MATCH (p:GraphmemEntityPiece {group_id: s.group, owner: v.id}) USING INDEX SEEK p:GraphmemEntityPiece(owner)
  WITH p, v WHERE size(p.embedding) = size($vector)
  WITH p, v ORDER BY vector.similarity.cosine(p.embedding, $vector) DESC LIMIT $limit
  RETURN collect([p.owner, p.piece, p.halves, CASE WHEN $pairs IS NOT NULL THEN v.attributes END]) AS found, count(*) < $limit AS whole
}
WITH reduce(every = [], some IN collect(found) | every + some) AS found, all(ended IN collect(whole) WHERE ended) AS whole
RETURN found, whole, [hit IN found[..32] | hit[0]] AS owners

// name: scan_episode
// The nearest visible episodes that pass, by comparing all; of each its best pieces.
// params: scopes, vector, limit, ids, keys, kinds, sessions, actors, sources, entities, first, last, pairs
// returns: found: id, piece, halves, and attributes if these are asked for; whole: whether nothing else passes
UNWIND $scopes AS s
CALL (s) {
  MATCH (e:GraphmemEpisode {group_id: s.group})
  WHERE ($ids IS NULL OR e.id IN $ids) AND ($keys IS NULL OR e.key IN $keys) AND ($kinds IS NULL OR e.kind IN $kinds)
  AND ($sessions IS NULL OR e.session IN $sessions) AND ($actors IS NULL OR e.actor IN $actors)
  AND ($sources IS NULL OR e.source IN $sources) AND e.reference_time >= $first AND e.reference_time < $last
  AND ($pairs IS NULL OR e.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE e.attributes CONTAINS pair))
  AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
    ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
    AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
  AND ($entities IS NULL OR EXISTS {
    MATCH (:GraphmemMention {group_id: s.group, episode: e.id})-[r:GRAPHMEM_NAMED]->(named:Entity)
    WHERE named.uuid IN $entities AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since })
  MATCH (p:GraphmemEpisodePiece {group_id: s.group, owner: e.id}) USING INDEX SEEK p:GraphmemEpisodePiece(owner)
  WITH p, e WHERE size(p.embedding) = size($vector)
  WITH p, e ORDER BY vector.similarity.cosine(p.embedding, $vector) DESC
  WITH e, collect(p)[..3] AS nearest LIMIT $limit
  UNWIND nearest AS p
  RETURN collect([p.owner, p.piece, p.halves, CASE WHEN $pairs IS NOT NULL THEN e.attributes END]) AS found, count(DISTINCT p.owner) < $limit AS whole
}
WITH reduce(every = [], some IN collect(found) | every + some) AS found, all(ended IN collect(whole) WHERE ended) AS whole
RETURN found, whole

// name: scan_community
// The nearest versions of communities that pass, by comparing all.
// params: scopes, vector, limit, pairs
// returns: found: id, piece, halves, and attributes if these are asked for; whole: whether nothing else passes; owners: of the first
UNWIND $scopes AS s
CALL (s) {
  MATCH (c:GraphmemCommunity {group_id: s.group})
  WHERE c.uuid IS NOT NULL AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
  AND $pairs IS NULL AND size(c.gm_embedding) = size($vector)
  WITH c ORDER BY vector.similarity.cosine(c.gm_embedding, $vector) DESC LIMIT $limit
  RETURN collect([c.uuid, 0, c.gm_halves, null]) AS found, count(*) < $limit AS whole
}
WITH reduce(every = [], some IN collect(found) | every + some) AS found, all(ended IN collect(whole) WHERE ended) AS whole
RETURN found, whole, [hit IN found[..64] | hit[0]] AS owners

// name: near_fact
// The nearest fact versions by the index, which filters by group and point in time.
// params: scopes, vector, limit
// returns: found: id, piece and halves; whole: whether nothing else passes
CYPHER 25
UNWIND $scopes AS s
CALL (s) {
  MATCH ()-[r:RELATES_TO]->()
  SEARCH r IN (VECTOR INDEX gm_fact_vectors FOR $vector
    WHERE r.group_id = s.group AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
      AND r.gm_valid_from <= s.valid_hi AND r.gm_valid_to > s.valid_lo
    LIMIT $limit)
  RETURN r
}
RETURN collect([r.uuid, 0, r.gm_halves]) AS found, count(*) < $limit AS whole

// name: near_fact_narrowed
// Of the nearest fact versions by the index, which filters by group and point in time, those that pass.
// Where these are too few, all are compared that cite such episodes, or have such ends, or are of such relations.
// params: scopes, vector, limit, enough, most, uuids, fact_ids, sources, targets, entities, relations, overlaps_start, overlaps_end, pairs, ends, cited, relation_indexes
// returns: found: id, piece, halves, and attributes if these are asked for; whole: whether nothing else passes
CYPHER 25
UNWIND $scopes AS s
CALL (s) {
  MATCH ()-[r:RELATES_TO]->()
  SEARCH r IN (VECTOR INDEX gm_fact_vectors FOR $vector
    WHERE r.group_id = s.group AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
      AND r.gm_valid_from <= s.valid_hi AND r.gm_valid_to > s.valid_lo
    LIMIT $limit)
  WITH collect(r) AS near
  CALL (s, near) {
    UNWIND near AS r
    WITH s, r WHERE ($uuids IS NULL OR r.uuid IN $uuids) AND ($fact_ids IS NULL OR r.gm_fact_id IN $fact_ids)
    AND ($sources IS NULL OR r.source_node_uuid IN $sources) AND ($targets IS NULL OR r.target_node_uuid IN $targets)
    AND ($entities IS NULL OR r.source_node_uuid IN $entities OR r.target_node_uuid IN $entities)
    AND ($relations IS NULL OR r.name IN $relations)
    AND r.gm_valid_from < $overlaps_end AND r.gm_valid_to > $overlaps_start
    AND ($pairs IS NULL OR r.gm_attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE r.gm_attributes CONTAINS pair))
    AND ($ends IS NULL OR EXISTS {
      UNWIND [r.source_node_uuid, r.target_node_uuid] AS side
      MATCH (v:GraphmemEntity {group_id: s.group, id: side})
      WHERE v.type IN $ends AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since })
    AND ($cited IS NULL OR EXISTS {
      MATCH (c:GraphmemCitation {group_id: s.group, fact_id: r.gm_fact_id})
      WHERE c.valid_at = r.gm_valid_from AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
      MATCH (e:GraphmemEpisode {group_id: s.group, id: c.episode})
      WHERE ($cited.sessions IS NULL OR e.session IN $cited.sessions) AND ($cited.actors IS NULL OR e.actor IN $cited.actors)
        AND ($cited.sources IS NULL OR e.source IN $cited.sources) AND e.reference_time >= $cited.first AND e.reference_time < $cited.last
        AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
          ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
          AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END })
    RETURN collect([r.uuid, 0, r.gm_halves, CASE WHEN $pairs IS NOT NULL THEN r.gm_attributes END]) AS passing
  }
  CALL (s, near, passing) {
    WITH s WHERE size(near) >= $limit AND size(passing) < $enough
    CALL (s) {
      WITH s WHERE $cited IS NOT NULL
      MATCH (e:GraphmemEpisode {group_id: s.group})
      WHERE ($cited.sessions IS NULL OR e.session IN $cited.sessions) AND ($cited.actors IS NULL OR e.actor IN $cited.actors)
      AND ($cited.sources IS NULL OR e.source IN $cited.sources) AND e.reference_time >= $cited.first AND e.reference_time < $cited.last
      AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
        ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
        AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
      MATCH (c:GraphmemCitation {group_id: s.group, episode: e.id})
      WHERE c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
      WITH DISTINCT s, c.fact_id AS fact, c.valid_at AS at
      MATCH ()-[r:RELATES_TO {group_id: s.group, gm_fact_id: fact}]->() WHERE r.gm_valid_from = at
      RETURN r
      UNION ALL
      WITH s WHERE $cited IS NULL AND $ends IS NOT NULL
      MATCH (v:GraphmemEntity {group_id: s.group})
      WHERE v.id IS NOT NULL AND v.type IN $ends AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
      MATCH (:Entity {group_id: s.group, uuid: v.id})-[r:RELATES_TO]-()
      RETURN DISTINCT r
      UNION ALL
      WITH s WHERE $cited IS NULL AND $ends IS NULL AND $relation_indexes IS NOT NULL
      UNWIND $relation_indexes AS relation
      MATCH ()-[r:RELATES_TO {group_id: s.group, gm_relation_index: relation}]->()
      RETURN r
      UNION ALL
      WITH s WHERE $cited IS NULL AND $ends IS NULL AND $relation_indexes IS NULL
      MATCH ()-[r:RELATES_TO {group_id: s.group}]->()
      RETURN r
    }
    WITH s, r
    WHERE r.gm_halves IS NOT NULL AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
    AND r.gm_valid_from <= s.valid_hi AND r.gm_valid_to > s.valid_lo
    AND ($uuids IS NULL OR r.uuid IN $uuids) AND ($fact_ids IS NULL OR r.gm_fact_id IN $fact_ids)
    AND ($sources IS NULL OR r.source_node_uuid IN $sources) AND ($targets IS NULL OR r.target_node_uuid IN $targets)
    AND ($entities IS NULL OR r.source_node_uuid IN $entities OR r.target_node_uuid IN $entities)
    AND ($relations IS NULL OR r.name IN $relations)
    AND r.gm_valid_from < $overlaps_end AND r.gm_valid_to > $overlaps_start
    AND ($pairs IS NULL OR r.gm_attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE r.gm_attributes CONTAINS pair))
    AND ($ends IS NULL OR EXISTS {
      UNWIND [r.source_node_uuid, r.target_node_uuid] AS side
      MATCH (v:GraphmemEntity {group_id: s.group, id: side})
      WHERE v.type IN $ends AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since })
    AND ($cited IS NULL OR EXISTS {
      MATCH (c:GraphmemCitation {group_id: s.group, fact_id: r.gm_fact_id})
      WHERE c.valid_at = r.gm_valid_from AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
      MATCH (e:GraphmemEpisode {group_id: s.group, id: c.episode})
      WHERE ($cited.sessions IS NULL OR e.session IN $cited.sessions) AND ($cited.actors IS NULL OR e.actor IN $cited.actors)
        AND ($cited.sources IS NULL OR e.source IN $cited.sources) AND e.reference_time >= $cited.first AND e.reference_time < $cited.last
        AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
          ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
          AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END })
    WITH r WHERE size(r.fact_embedding) = size($vector)
    WITH r ORDER BY vector.similarity.cosine(r.fact_embedding, $vector) DESC LIMIT $most
    RETURN collect([r.uuid, 0, r.gm_halves, CASE WHEN $pairs IS NOT NULL THEN r.gm_attributes END]) AS compared, count(*) AS held
  }
  RETURN CASE WHEN size(compared) > size(passing) THEN compared ELSE passing[..$most] END AS found,
    size(near) < $limit OR (size(passing) < $enough AND held < $most) AS whole
}
WITH reduce(every = [], some IN collect(found) | every + some) AS found, all(ended IN collect(whole) WHERE ended) AS whole
RETURN found, whole

// name: near_entity
// Of the nearest names of entities by the index, which filters by group, those that pass; where these are too few, all are compared.
// params: scopes, vector, limit, enough, most, ids, types, keys, pairs
// returns: found: id, piece, halves, and attributes if these are asked for; whole: whether nothing else passes; owners: of the first
CYPHER 25
UNWIND $scopes AS s
CALL (s) {
  MATCH (p:GraphmemEntityPiece)
  SEARCH p IN (VECTOR INDEX gm_entity_vectors FOR $vector WHERE p.group_id = s.group LIMIT $limit)
  WITH collect(p) AS near
  CALL (s, near) {
    UNWIND near AS p
    MATCH (v:GraphmemEntity {group_id: s.group, id: p.owner})
    WHERE v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
    AND ($ids IS NULL OR v.id IN $ids) AND ($types IS NULL OR v.type IN $types) AND ($keys IS NULL OR any(key IN v.keys WHERE key IN $keys))
    AND ($pairs IS NULL OR v.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE v.attributes CONTAINS pair))
    RETURN collect([p.owner, p.piece, p.halves, CASE WHEN $pairs IS NOT NULL THEN v.attributes END]) AS passing
  }
  CALL (s, near, passing) {
    WITH s WHERE size(near) >= $limit AND size(passing) < $enough
    MATCH (v:GraphmemEntity {group_id: s.group})
    WHERE v.id IS NOT NULL AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
    AND ($ids IS NULL OR v.id IN $ids) AND ($types IS NULL OR v.type IN $types) AND ($keys IS NULL OR any(key IN v.keys WHERE key IN $keys))
    AND ($pairs IS NULL OR v.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE v.attributes CONTAINS pair))
    MATCH (p:GraphmemEntityPiece {group_id: s.group, owner: v.id}) USING INDEX SEEK p:GraphmemEntityPiece(owner)
    WITH p, v WHERE size(p.embedding) = size($vector)
    WITH p, v ORDER BY vector.similarity.cosine(p.embedding, $vector) DESC LIMIT $most
    RETURN collect([p.owner, p.piece, p.halves, CASE WHEN $pairs IS NOT NULL THEN v.attributes END]) AS compared, count(*) AS held
  }
  RETURN CASE WHEN size(compared) > size(passing) THEN compared ELSE passing[..$most] END AS found,
    size(near) < $limit OR (size(passing) < $enough AND held < $most) AS whole
}
WITH reduce(every = [], some IN collect(found) | every + some) AS found, all(ended IN collect(whole) WHERE ended) AS whole
RETURN found, whole, [hit IN found[..32] | hit[0]] AS owners

// name: near_episode
// Of the nearest pieces of episodes by the index, which filters by group, those that pass; where these are too few, all are compared.
// params: scopes, vector, limit, enough, most, ids, keys, kinds, sessions, actors, sources, entities, first, last, pairs
// returns: found: id, piece, halves, and attributes if these are asked for; whole: whether nothing else passes
CYPHER 25
UNWIND $scopes AS s
CALL (s) {
  MATCH (p:GraphmemEpisodePiece)
  SEARCH p IN (VECTOR INDEX gm_episode_vectors FOR $vector WHERE p.group_id = s.group LIMIT $limit)
  WITH collect(p) AS near
  CALL (s, near) {
    UNWIND near AS p
    MATCH (e:GraphmemEpisode {group_id: s.group, id: p.owner})
    WHERE ($ids IS NULL OR e.id IN $ids) AND ($keys IS NULL OR e.key IN $keys) AND ($kinds IS NULL OR e.kind IN $kinds)
    AND ($sessions IS NULL OR e.session IN $sessions) AND ($actors IS NULL OR e.actor IN $actors)
    AND ($sources IS NULL OR e.source IN $sources) AND e.reference_time >= $first AND e.reference_time < $last
    AND ($pairs IS NULL OR e.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE e.attributes CONTAINS pair))
    AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
      ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
      AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
    AND ($entities IS NULL OR EXISTS {
      MATCH (:GraphmemMention {group_id: s.group, episode: e.id})-[r:GRAPHMEM_NAMED]->(named:Entity)
      WHERE named.uuid IN $entities AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since })
    RETURN collect([p.owner, p.piece, p.halves, CASE WHEN $pairs IS NOT NULL THEN e.attributes END]) AS passing
  }
  CALL (s, near, passing) {
    WITH s WHERE size(near) >= $limit AND size(passing) < $enough
    MATCH (e:GraphmemEpisode {group_id: s.group})
    WHERE ($ids IS NULL OR e.id IN $ids) AND ($keys IS NULL OR e.key IN $keys) AND ($kinds IS NULL OR e.kind IN $kinds)
    AND ($sessions IS NULL OR e.session IN $sessions) AND ($actors IS NULL OR e.actor IN $actors)
    AND ($sources IS NULL OR e.source IN $sources) AND e.reference_time >= $first AND e.reference_time < $last
    AND ($pairs IS NULL OR e.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE e.attributes CONTAINS pair))
    AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
      ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
      AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
    AND ($entities IS NULL OR EXISTS {
      MATCH (:GraphmemMention {group_id: s.group, episode: e.id})-[r:GRAPHMEM_NAMED]->(named:Entity)
      WHERE named.uuid IN $entities AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since })
    MATCH (p:GraphmemEpisodePiece {group_id: s.group, owner: e.id}) USING INDEX SEEK p:GraphmemEpisodePiece(owner)
    WITH p, e WHERE size(p.embedding) = size($vector)
    WITH p, e ORDER BY vector.similarity.cosine(p.embedding, $vector) DESC
    WITH e, collect(p)[..3] AS nearest LIMIT $most
    UNWIND nearest AS p
    RETURN collect([p.owner, p.piece, p.halves, CASE WHEN $pairs IS NOT NULL THEN e.attributes END]) AS compared, count(DISTINCT p.owner) AS held
  }
  RETURN CASE WHEN size(compared) > size(passing) THEN compared ELSE passing[..$most] END AS found,
    size(near) < $limit OR (size(passing) < $enough AND held < $most) AS whole
}
WITH reduce(every = [], some IN collect(found) | every + some) AS found, all(ended IN collect(whole) WHERE ended) AS whole
RETURN found, whole

// name: near_community
// The nearest versions of communities by the index, which filters by group and point in time.
// params: scopes, vector, limit, pairs
// returns: found: id, piece and halves; whole: whether nothing else passes; owners: of the first
CYPHER 25
UNWIND $scopes AS s
CALL (s) {
  MATCH (c:GraphmemCommunity)
  SEARCH c IN (VECTOR INDEX gm_community_vectors FOR $vector
    WHERE c.group_id = s.group AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
    LIMIT $limit)
  WITH c WHERE $pairs IS NULL
  RETURN collect([c.uuid, 0, c.gm_halves]) AS found, count(*) < $limit AS whole
}
WITH reduce(every = [], some IN collect(found) | every + some) AS found, all(ended IN collect(whole) WHERE ended) AS whole
RETURN found, whole, [hit IN found[..64] | hit[0]] AS owners

// name: fetched_fact
// As near_fact_narrowed, where the index cannot filter: of the nearest of all groups those that pass.
// params: scopes, vector, limit, enough, most, uuids, fact_ids, sources, targets, entities, relations, overlaps_start, overlaps_end, pairs, ends, cited, relation_indexes
// returns: found: id, piece, halves, and attributes if these are asked for; whole: whether nothing else passes
UNWIND $scopes AS s
CALL (s) {
  CALL db.index.vector.queryRelationships('gm_fact_vectors', $limit, $vector) YIELD relationship AS r
  WITH collect(r) AS near
  CALL (s, near) {
    UNWIND near AS r
    WITH s, r WHERE r.group_id = s.group AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
    AND r.gm_valid_from <= s.valid_hi AND r.gm_valid_to > s.valid_lo
      AND ($uuids IS NULL OR r.uuid IN $uuids) AND ($fact_ids IS NULL OR r.gm_fact_id IN $fact_ids)
    AND ($sources IS NULL OR r.source_node_uuid IN $sources) AND ($targets IS NULL OR r.target_node_uuid IN $targets)
    AND ($entities IS NULL OR r.source_node_uuid IN $entities OR r.target_node_uuid IN $entities)
    AND ($relations IS NULL OR r.name IN $relations)
    AND r.gm_valid_from < $overlaps_end AND r.gm_valid_to > $overlaps_start
    AND ($pairs IS NULL OR r.gm_attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE r.gm_attributes CONTAINS pair))
    AND ($ends IS NULL OR EXISTS {
      UNWIND [r.source_node_uuid, r.target_node_uuid] AS side
      MATCH (v:GraphmemEntity {group_id: s.group, id: side})
      WHERE v.type IN $ends AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since })
    AND ($cited IS NULL OR EXISTS {
      MATCH (c:GraphmemCitation {group_id: s.group, fact_id: r.gm_fact_id})
      WHERE c.valid_at = r.gm_valid_from AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
      MATCH (e:GraphmemEpisode {group_id: s.group, id: c.episode})
      WHERE ($cited.sessions IS NULL OR e.session IN $cited.sessions) AND ($cited.actors IS NULL OR e.actor IN $cited.actors)
        AND ($cited.sources IS NULL OR e.source IN $cited.sources) AND e.reference_time >= $cited.first AND e.reference_time < $cited.last
        AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
          ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
          AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END })
    RETURN collect([r.uuid, 0, r.gm_halves, CASE WHEN $pairs IS NOT NULL THEN r.gm_attributes END]) AS passing
  }
  CALL (s, near, passing) {
    WITH s WHERE size(near) >= $limit AND size(passing) < $enough
    CALL (s) {
      WITH s WHERE $cited IS NOT NULL
      MATCH (e:GraphmemEpisode {group_id: s.group})
      WHERE ($cited.sessions IS NULL OR e.session IN $cited.sessions) AND ($cited.actors IS NULL OR e.actor IN $cited.actors)
      AND ($cited.sources IS NULL OR e.source IN $cited.sources) AND e.reference_time >= $cited.first AND e.reference_time < $cited.last
      AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
        ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
        AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
      MATCH (c:GraphmemCitation {group_id: s.group, episode: e.id})
      WHERE c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
      WITH DISTINCT s, c.fact_id AS fact, c.valid_at AS at
      MATCH ()-[r:RELATES_TO {group_id: s.group, gm_fact_id: fact}]->() WHERE r.gm_valid_from = at
      RETURN r
      UNION ALL
      WITH s WHERE $cited IS NULL AND $ends IS NOT NULL
      MATCH (v:GraphmemEntity {group_id: s.group})
      WHERE v.id IS NOT NULL AND v.type IN $ends AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
      MATCH (:Entity {group_id: s.group, uuid: v.id})-[r:RELATES_TO]-()
      RETURN DISTINCT r
      UNION ALL
      WITH s WHERE $cited IS NULL AND $ends IS NULL AND $relation_indexes IS NOT NULL
      UNWIND $relation_indexes AS relation
      MATCH ()-[r:RELATES_TO {group_id: s.group, gm_relation_index: relation}]->()
      RETURN r
      UNION ALL
      WITH s WHERE $cited IS NULL AND $ends IS NULL AND $relation_indexes IS NULL
      MATCH ()-[r:RELATES_TO {group_id: s.group}]->()
      RETURN r
    }
    WITH s, r
    WHERE r.gm_halves IS NOT NULL AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
    AND r.gm_valid_from <= s.valid_hi AND r.gm_valid_to > s.valid_lo
    AND ($uuids IS NULL OR r.uuid IN $uuids) AND ($fact_ids IS NULL OR r.gm_fact_id IN $fact_ids)
    AND ($sources IS NULL OR r.source_node_uuid IN $sources) AND ($targets IS NULL OR r.target_node_uuid IN $targets)
    AND ($entities IS NULL OR r.source_node_uuid IN $entities OR r.target_node_uuid IN $entities)
    AND ($relations IS NULL OR r.name IN $relations)
    AND r.gm_valid_from < $overlaps_end AND r.gm_valid_to > $overlaps_start
    AND ($pairs IS NULL OR r.gm_attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE r.gm_attributes CONTAINS pair))
    AND ($ends IS NULL OR EXISTS {
      UNWIND [r.source_node_uuid, r.target_node_uuid] AS side
      MATCH (v:GraphmemEntity {group_id: s.group, id: side})
      WHERE v.type IN $ends AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since })
    AND ($cited IS NULL OR EXISTS {
      MATCH (c:GraphmemCitation {group_id: s.group, fact_id: r.gm_fact_id})
      WHERE c.valid_at = r.gm_valid_from AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
      MATCH (e:GraphmemEpisode {group_id: s.group, id: c.episode})
      WHERE ($cited.sessions IS NULL OR e.session IN $cited.sessions) AND ($cited.actors IS NULL OR e.actor IN $cited.actors)
        AND ($cited.sources IS NULL OR e.source IN $cited.sources) AND e.reference_time >= $cited.first AND e.reference_time < $cited.last
        AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
          ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
          AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END })
    WITH r WHERE size(r.fact_embedding) = size($vector)
    WITH r ORDER BY vector.similarity.cosine(r.fact_embedding, $vector) DESC LIMIT $most
    RETURN collect([r.uuid, 0, r.gm_halves, CASE WHEN $pairs IS NOT NULL THEN r.gm_attributes END]) AS compared, count(*) AS held
  }
  RETURN CASE WHEN size(compared) > size(passing) THEN compared ELSE passing[..$most] END AS found,
    size(near) < $limit OR (size(passing) < $enough AND held < $most) AS whole
}
WITH reduce(every = [], some IN collect(found) | every + some) AS found, all(ended IN collect(whole) WHERE ended) AS whole
RETURN found, whole

// name: fetched_entity
// As near_entity, where the index cannot filter: of the nearest of all groups those that pass.
// params: scopes, vector, limit, enough, most, ids, types, keys, pairs
// returns: found: id, piece, halves, and attributes if these are asked for; whole: whether nothing else passes; owners: of the first
UNWIND $scopes AS s
CALL (s) {
  CALL db.index.vector.queryNodes('gm_entity_vectors', $limit, $vector) YIELD node AS p
  WITH collect(p) AS near
  CALL (s, near) {
    UNWIND near AS p
    MATCH (v:GraphmemEntity {group_id: s.group, id: p.owner})
    WHERE p.group_id = s.group AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
    AND ($ids IS NULL OR v.id IN $ids) AND ($types IS NULL OR v.type IN $types) AND ($keys IS NULL OR any(key IN v.keys WHERE key IN $keys))
    AND ($pairs IS NULL OR v.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE v.attributes CONTAINS pair))
    RETURN collect([p.owner, p.piece, p.halves, CASE WHEN $pairs IS NOT NULL THEN v.attributes END]) AS passing
  }
  CALL (s, near, passing) {
    WITH s WHERE size(near) >= $limit AND size(passing) < $enough
    MATCH (v:GraphmemEntity {group_id: s.group})
    WHERE v.id IS NOT NULL AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
    AND ($ids IS NULL OR v.id IN $ids) AND ($types IS NULL OR v.type IN $types) AND ($keys IS NULL OR any(key IN v.keys WHERE key IN $keys))
    AND ($pairs IS NULL OR v.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE v.attributes CONTAINS pair))
    MATCH (p:GraphmemEntityPiece {group_id: s.group, owner: v.id}) USING INDEX SEEK p:GraphmemEntityPiece(owner)
    WITH p, v WHERE size(p.embedding) = size($vector)
    WITH p, v ORDER BY vector.similarity.cosine(p.embedding, $vector) DESC LIMIT $most
    RETURN collect([p.owner, p.piece, p.halves, CASE WHEN $pairs IS NOT NULL THEN v.attributes END]) AS compared, count(*) AS held
  }
  RETURN CASE WHEN size(compared) > size(passing) THEN compared ELSE passing[..$most] END AS found,
    size(near) < $limit OR (size(passing) < $enough AND held < $most) AS whole
}
WITH reduce(every = [], some IN collect(found) | every + some) AS found, all(ended IN collect(whole) WHERE ended) AS whole
RETURN found, whole, [hit IN found[..32] | hit[0]] AS owners

// name: fetched_episode
// As near_episode, where the index cannot filter: of the nearest of all groups those that pass.
// params: scopes, vector, limit, enough, most, ids, keys, kinds, sessions, actors, sources, entities, first, last, pairs
// returns: found: id, piece, halves, and attributes if these are asked for; whole: whether nothing else passes
UNWIND $scopes AS s
CALL (s) {
  CALL db.index.vector.queryNodes('gm_episode_vectors', $limit, $vector) YIELD node AS p
  WITH collect(p) AS near
  CALL (s, near) {
    UNWIND near AS p
    MATCH (e:GraphmemEpisode {group_id: s.group, id: p.owner})
    WHERE p.group_id = s.group AND ($ids IS NULL OR e.id IN $ids) AND ($keys IS NULL OR e.key IN $keys) AND ($kinds IS NULL OR e.kind IN $kinds)
    AND ($sessions IS NULL OR e.session IN $sessions) AND ($actors IS NULL OR e.actor IN $actors)
    AND ($sources IS NULL OR e.source IN $sources) AND e.reference_time >= $first AND e.reference_time < $last
    AND ($pairs IS NULL OR e.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE e.attributes CONTAINS pair))
    AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
      ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
      AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
    AND ($entities IS NULL OR EXISTS {
      MATCH (:GraphmemMention {group_id: s.group, episode: e.id})-[r:GRAPHMEM_NAMED]->(named:Entity)
      WHERE named.uuid IN $entities AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since })
    RETURN collect([p.owner, p.piece, p.halves, CASE WHEN $pairs IS NOT NULL THEN e.attributes END]) AS passing
  }
  CALL (s, near, passing) {
    WITH s WHERE size(near) >= $limit AND size(passing) < $enough
    MATCH (e:GraphmemEpisode {group_id: s.group})
    WHERE ($ids IS NULL OR e.id IN $ids) AND ($keys IS NULL OR e.key IN $keys) AND ($kinds IS NULL OR e.kind IN $kinds)
    AND ($sessions IS NULL OR e.session IN $sessions) AND ($actors IS NULL OR e.actor IN $actors)
    AND ($sources IS NULL OR e.source IN $sources) AND e.reference_time >= $first AND e.reference_time < $last
    AND ($pairs IS NULL OR e.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE e.attributes CONTAINS pair))
    AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
      ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
      AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
    AND ($entities IS NULL OR EXISTS {
      MATCH (:GraphmemMention {group_id: s.group, episode: e.id})-[r:GRAPHMEM_NAMED]->(named:Entity)
      WHERE named.uuid IN $entities AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since })
    MATCH (p:GraphmemEpisodePiece {group_id: s.group, owner: e.id}) USING INDEX SEEK p:GraphmemEpisodePiece(owner)
    WITH p, e WHERE size(p.embedding) = size($vector)
    WITH p, e ORDER BY vector.similarity.cosine(p.embedding, $vector) DESC
    WITH e, collect(p)[..3] AS nearest LIMIT $most
    UNWIND nearest AS p
    RETURN collect([p.owner, p.piece, p.halves, CASE WHEN $pairs IS NOT NULL THEN e.attributes END]) AS compared, count(DISTINCT p.owner) AS held
  }
  RETURN CASE WHEN size(compared) > size(passing) THEN compared ELSE passing[..$most] END AS found,
    size(near) < $limit OR (size(passing) < $enough AND held < $most) AS whole
}
WITH reduce(every = [], some IN collect(found) | every + some) AS found, all(ended IN collect(whole) WHERE ended) AS whole
RETURN found, whole

// name: fetched_community
// As near_community, where the index cannot filter: of the nearest of all groups those that pass.
// params: scopes, vector, limit, enough, most, pairs
// returns: found: id, piece, halves, and attributes if these are asked for; whole: whether nothing else passes; owners: of the first
UNWIND $scopes AS s
CALL (s) {
  CALL db.index.vector.queryNodes('gm_community_vectors', $limit, $vector) YIELD node AS c
  WITH collect(c) AS near
  CALL (s, near) {
    UNWIND near AS c
    WITH s, c WHERE c.group_id = s.group AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
    AND $pairs IS NULL
    RETURN collect([c.uuid, 0, c.gm_halves, null]) AS passing
  }
  CALL (s, near, passing) {
    WITH s WHERE size(near) >= $limit AND size(passing) < $enough
    MATCH (c:GraphmemCommunity {group_id: s.group})
    WHERE c.uuid IS NOT NULL AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
    AND $pairs IS NULL AND size(c.gm_embedding) = size($vector)
    WITH c ORDER BY vector.similarity.cosine(c.gm_embedding, $vector) DESC LIMIT $most
    RETURN collect([c.uuid, 0, c.gm_halves, null]) AS compared, count(*) AS held
  }
  RETURN CASE WHEN size(compared) > size(passing) THEN compared ELSE passing[..$most] END AS found,
    size(near) < $limit OR (size(passing) < $enough AND held < $most) AS whole
}
WITH reduce(every = [], some IN collect(found) | every + some) AS found, all(ended IN collect(whole) WHERE ended) AS whole
RETURN found, whole, [hit IN found[..64] | hit[0]] AS owners

// name: vectors_fact
// Stored vectors, by owner.
// params: ids
// returns: found: owner and halves, by piece
UNWIND $ids AS id
MATCH ()-[r:RELATES_TO {uuid: id}]->() WHERE r.gm_halves IS NOT NULL
WITH DISTINCT r.uuid AS owner, 0 AS piece, r.gm_halves AS halves
ORDER BY owner, piece
RETURN collect([owner, halves]) AS found

// name: vectors_entity
// Stored vectors, by owner.
// params: ids
// returns: found: owner and halves, by piece
UNWIND $ids AS id
MATCH (p:GraphmemEntityPiece {owner: id})
WITH DISTINCT p.owner AS owner, p.piece AS piece, p.halves AS halves
ORDER BY owner, piece
RETURN collect([owner, halves]) AS found

// name: vectors_episode
// Stored vectors, by owner.
// params: ids
// returns: found: owner and halves, by piece
UNWIND $ids AS id
MATCH (p:GraphmemEpisodePiece {owner: id})
WITH DISTINCT p.owner AS owner, p.piece AS piece, p.halves AS halves
ORDER BY owner, piece
RETURN collect([owner, halves]) AS found

// name: vectors_community
// Stored vectors, by owner.
// params: ids
// returns: found: owner and halves
UNWIND $ids AS id
MATCH (c:GraphmemCommunity {uuid: id}) WHERE c.gm_halves IS NOT NULL
WITH DISTINCT c.uuid AS owner, c.gm_halves AS halves
RETURN collect([owner, halves]) AS found
