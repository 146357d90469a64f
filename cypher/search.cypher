// name: text_fact
// Fact versions that pass, best words first; the word index is read until enough pass.
// params: scopes, query, tokens, limit, uuids, fact_ids, sources, targets, entities, relations, overlaps_start, overlaps_end, pairs, ends, cited
// returns: rows, total, found: statistics as in `statistics`; hits: id, words and the index's score
UNWIND $scopes AS s
CALL (s) {
  CALL db.index.fulltext.queryRelationships('gm_fact_words', s.prefix + $query) YIELD relationship AS r, score
  WHERE r.group_id = s.group AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
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
      AND any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
        AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) })
  RETURN r.uuid AS id, r.gm_words AS words, score LIMIT $limit
}
WITH collect([id, words, score]) AS hits
CALL () {
  MATCH (g:GraphmemGroup)
  RETURN sum(g.fact_rows) AS rows, sum(g.fact_words) AS total
}
CALL () {
  UNWIND $tokens AS token
  MATCH (w:GraphmemWord {kind: 'fact', token: token})
  WITH token, sum(w.rows) AS containing
  RETURN collect([token, containing]) AS found
}
RETURN rows, total, found, hits

// name: text_entity
// Entities that pass, best words first, those of one score by id: many names have a word in common.
// params: scopes, query, tokens, limit, ids, types, keys, pairs
// returns: rows, total, found: statistics as in `statistics`; hits: id, words and the index's score
UNWIND $scopes AS s
CALL (s) {
  CALL db.index.fulltext.queryNodes('gm_entity_words', s.prefix + $query, {limit: 2000}) YIELD node AS e, score
  WHERE e.group_id = s.group AND ($ids IS NULL OR e.uuid IN $ids) AND EXISTS {
    MATCH (v:GraphmemEntity {group_id: s.group, id: e.uuid})
    WHERE v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
      AND ($types IS NULL OR v.type IN $types)
      AND ($pairs IS NULL OR v.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE v.attributes CONTAINS pair)) AND ($keys IS NULL OR any(key IN v.keys WHERE key IN $keys)) }
  RETURN e.uuid AS id, e.gm_words AS words, score ORDER BY score DESC, id LIMIT $limit
}
WITH collect([id, words, score]) AS hits
CALL () {
  MATCH (g:GraphmemGroup)
  RETURN sum(g.entity_rows) AS rows, sum(g.entity_words) AS total
}
CALL () {
  UNWIND $tokens AS token
  MATCH (w:GraphmemWord {kind: 'entity', token: token})
  WITH token, sum(w.rows) AS containing
  RETURN collect([token, containing]) AS found
}
RETURN rows, total, found, hits

// name: text_episode
// Visible episodes that pass, best words first.
// params: scopes, query, tokens, limit, ids, keys, kinds, sessions, actors, sources, entities, first, last, heard, pairs
// returns: rows, total, found: statistics as in `statistics`; hits: id, words and the index's score; best: ids of the first `heard`
UNWIND $scopes AS s
CALL (s) {
  CALL db.index.fulltext.queryNodes('gm_episode_words', s.prefix + $query) YIELD node AS e, score
  WHERE e.group_id = s.group AND ($ids IS NULL OR e.id IN $ids) AND ($keys IS NULL OR e.key IN $keys) AND ($kinds IS NULL OR e.kind IN $kinds)
  AND ($sessions IS NULL OR e.session IN $sessions) AND ($actors IS NULL OR e.actor IN $actors)
  AND ($sources IS NULL OR e.source IN $sources) AND e.reference_time >= $first AND e.reference_time < $last
  AND ($pairs IS NULL OR e.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE e.attributes CONTAINS pair))
  AND any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
    AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still)
  AND ($entities IS NULL OR EXISTS {
    MATCH (:GraphmemMention {group_id: s.group, episode: e.id})-[r:GRAPHMEM_NAMED]->(named:Entity)
    WHERE named.uuid IN $entities AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since })
  RETURN e.id AS id, e.gm_words AS words, score LIMIT $limit
}
WITH id, words, score ORDER BY score DESC
WITH collect([id, words, score]) AS hits
CALL () {
  MATCH (g:GraphmemGroup)
  RETURN sum(g.episode_rows) AS rows, sum(g.episode_words) AS total
}
CALL () {
  UNWIND $tokens AS token
  MATCH (w:GraphmemWord {kind: 'episode', token: token})
  WITH token, sum(w.rows) AS containing
  RETURN collect([token, containing]) AS found
}
RETURN rows, total, found, hits, [hit IN hits[..$heard] | hit[0]] AS best

// name: text_community
// Versions of communities that pass, best words first.
// params: scopes, query, tokens, limit, pairs
// returns: rows, total, found: statistics as in `statistics`; hits: id, words and the index's score
UNWIND $scopes AS s
CALL (s) {
  CALL db.index.fulltext.queryNodes('gm_community_words', s.prefix + $query) YIELD node AS c, score
  WHERE c.group_id = s.group AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
    AND $pairs IS NULL
  RETURN c.uuid AS id, c.gm_words AS words, score LIMIT $limit
}
WITH collect([id, words, score]) AS hits
CALL () {
  MATCH (g:GraphmemGroup)
  RETURN sum(g.community_rows) AS rows, sum(g.community_words) AS total
}
CALL () {
  UNWIND $tokens AS token
  MATCH (w:GraphmemWord {kind: 'community', token: token})
  WITH token, sum(w.rows) AS containing
  RETURN collect([token, containing]) AS found
}
RETURN rows, total, found, hits

// name: statistics
// How many rows of a kind are indexed, how many words they have, and in how many of them each word occurs.
// params: kind, tokens
// returns: rows, words, found
MATCH (g:GraphmemGroup)
WITH sum(g[$kind + '_rows']) AS rows, sum(g[$kind + '_words']) AS words
CALL () {
  UNWIND $tokens AS token
  MATCH (w:GraphmemWord {kind: $kind, token: token})
  WITH token, sum(w.rows) AS rows
  RETURN collect([token, rows]) AS found
}
RETURN rows, words, found

// name: scan_fact
// The nearest fact versions that pass, by comparing all.
// params: scopes, vector, limit, uuids, fact_ids, sources, targets, entities, relations, overlaps_start, overlaps_end, pairs, ends, cited
// returns: found: id, piece and halves
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
      AND any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
        AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) })
  WITH r WHERE size(r.fact_embedding) = size($vector)
  RETURN r ORDER BY vector.similarity.cosine(r.fact_embedding, $vector) DESC LIMIT $limit
}
RETURN collect([r.uuid, 0, r.gm_halves]) AS found

// name: scan_entity
// The nearest names of entities that pass, by comparing all.
// params: scopes, vector, limit, ids, types, keys, pairs
// returns: found: id, piece and halves; owners: of the first
UNWIND $scopes AS s
CALL (s) {
  MATCH (p:GraphmemEntityPiece {group_id: s.group})
  WHERE p.owner IS NOT NULL AND p.piece IS NOT NULL AND size(p.embedding) = size($vector)
  WITH p ORDER BY vector.similarity.cosine(p.embedding, $vector) DESC
  WHERE EXISTS {
    MATCH (v:GraphmemEntity {group_id: s.group, id: p.owner})
    WHERE v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
      AND ($ids IS NULL OR v.id IN $ids) AND ($types IS NULL OR v.type IN $types)
      AND ($pairs IS NULL OR v.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE v.attributes CONTAINS pair))
      AND ($keys IS NULL OR any(key IN v.keys WHERE key IN $keys)) }
  RETURN p LIMIT $limit
}
RETURN collect([p.owner, p.piece, p.halves]) AS found, collect(p.owner)[..32] AS owners

// name: scan_episode
// The nearest pieces of visible episodes that pass, by comparing all.
// params: scopes, vector, limit, ids, keys, kinds, sessions, actors, sources, entities, first, last, pairs
// returns: found: id, piece and halves
UNWIND $scopes AS s
CALL (s) {
  MATCH (e:GraphmemEpisode {group_id: s.group})
  WHERE ($ids IS NULL OR e.id IN $ids) AND ($keys IS NULL OR e.key IN $keys) AND ($kinds IS NULL OR e.kind IN $kinds)
  AND ($sessions IS NULL OR e.session IN $sessions) AND ($actors IS NULL OR e.actor IN $actors)
  AND ($sources IS NULL OR e.source IN $sources) AND e.reference_time >= $first AND e.reference_time < $last
  AND ($pairs IS NULL OR e.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE e.attributes CONTAINS pair))
  AND any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
    AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still)
  AND ($entities IS NULL OR EXISTS {
    MATCH (:GraphmemMention {group_id: s.group, episode: e.id})-[r:GRAPHMEM_NAMED]->(named:Entity)
    WHERE named.uuid IN $entities AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since })
  MATCH (p:GraphmemEpisodePiece {group_id: s.group, owner: e.id}) USING INDEX SEEK p:GraphmemEpisodePiece(owner)
  WITH p WHERE size(p.embedding) = size($vector)
  RETURN p ORDER BY vector.similarity.cosine(p.embedding, $vector) DESC LIMIT $limit
}
RETURN collect([p.owner, p.piece, p.halves]) AS found

// name: scan_community
// The nearest versions of communities that pass, by comparing all.
// params: scopes, vector, limit, pairs
// returns: found: id, piece and halves; owners: of the first
UNWIND $scopes AS s
CALL (s) {
  MATCH (c:GraphmemCommunity {group_id: s.group})
  WHERE c.uuid IS NOT NULL AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
    AND size(c.gm_embedding) = size($vector) AND $pairs IS NULL
  RETURN c ORDER BY vector.similarity.cosine(c.gm_embedding, $vector) DESC LIMIT $limit
}
RETURN collect([c.uuid, 0, c.gm_halves]) AS found, collect(c.uuid)[..64] AS owners

// name: near_fact
// Of the nearest fact versions by the index, which filters by group and point in time, those that pass.
// params: scopes, vector, limit, uuids, fact_ids, sources, targets, entities, relations, overlaps_start, overlaps_end, pairs, ends, cited
// returns: found: id, piece and halves, which are null for what does not pass
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
WITH r, ($uuids IS NULL OR r.uuid IN $uuids) AND ($fact_ids IS NULL OR r.gm_fact_id IN $fact_ids)
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
      AND any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
        AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) }) AS passes
RETURN collect([r.uuid, 0, CASE WHEN passes THEN r.gm_halves END]) AS found

// name: near_entity
// Of the nearest names of entities by the index, which filters by group, those that pass.
// params: scopes, vector, limit, ids, types, keys, pairs
// returns: found: id, piece and halves, which are null for what does not pass; owners: of the first that pass
CYPHER 25
UNWIND $scopes AS s
CALL (s) {
  MATCH (p:GraphmemEntityPiece)
  SEARCH p IN (VECTOR INDEX gm_entity_vectors FOR $vector WHERE p.group_id = s.group LIMIT $limit)
  RETURN p
}
WITH p, EXISTS {
  MATCH (v:GraphmemEntity {group_id: s.group, id: p.owner})
  WHERE v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
    AND ($ids IS NULL OR v.id IN $ids) AND ($types IS NULL OR v.type IN $types)
      AND ($pairs IS NULL OR v.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE v.attributes CONTAINS pair))
    AND ($keys IS NULL OR any(key IN v.keys WHERE key IN $keys)) } AS passes
RETURN collect([p.owner, p.piece, CASE WHEN passes THEN p.halves END]) AS found, collect(CASE WHEN passes THEN p.owner END)[..32] AS owners

// name: near_episode
// Of the nearest pieces of episodes by the index, which filters by group, those that pass.
// params: scopes, vector, limit, ids, keys, kinds, sessions, actors, sources, entities, first, last, pairs
// returns: found: id, piece and halves, which are null for what does not pass
CYPHER 25
UNWIND $scopes AS s
CALL (s) {
  MATCH (p:GraphmemEpisodePiece)
  SEARCH p IN (VECTOR INDEX gm_episode_vectors FOR $vector WHERE p.group_id = s.group LIMIT $limit)
  RETURN p
}
MATCH (e:GraphmemEpisode {group_id: s.group, id: p.owner})
WITH p, ($ids IS NULL OR e.id IN $ids) AND ($keys IS NULL OR e.key IN $keys) AND ($kinds IS NULL OR e.kind IN $kinds)
  AND ($sessions IS NULL OR e.session IN $sessions) AND ($actors IS NULL OR e.actor IN $actors)
  AND ($sources IS NULL OR e.source IN $sources) AND e.reference_time >= $first AND e.reference_time < $last
  AND ($pairs IS NULL OR e.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE e.attributes CONTAINS pair))
  AND any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
    AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still)
  AND ($entities IS NULL OR EXISTS {
    MATCH (:GraphmemMention {group_id: s.group, episode: e.id})-[r:GRAPHMEM_NAMED]->(named:Entity)
    WHERE named.uuid IN $entities AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since }) AS passes
RETURN collect([p.owner, p.piece, CASE WHEN passes THEN p.halves END]) AS found

// name: near_community
// The nearest versions of communities by the index, which filters by group and point in time.
// params: scopes, vector, limit, pairs
// returns: found: id, piece and halves, which are null for what does not pass; owners: of the first that pass
CYPHER 25
UNWIND $scopes AS s
CALL (s) {
  MATCH (c:GraphmemCommunity)
  SEARCH c IN (VECTOR INDEX gm_community_vectors FOR $vector
    WHERE c.group_id = s.group AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
    LIMIT $limit)
  RETURN c
}
WITH c, $pairs IS NULL AS passes
RETURN collect([c.uuid, 0, CASE WHEN passes THEN c.gm_halves END]) AS found, collect(CASE WHEN passes THEN c.uuid END)[..64] AS owners

// name: fetched_fact
// As near_fact, where the index cannot filter: the nearest of all groups, then those that pass.
// params: scopes, vector, limit, uuids, fact_ids, sources, targets, entities, relations, overlaps_start, overlaps_end, pairs, ends, cited
// returns: found: id, piece and halves, which are null for what does not pass
CALL db.index.vector.queryRelationships('gm_fact_vectors', $limit, $vector) YIELD relationship AS r
WITH r, [s IN $scopes WHERE s.group = r.group_id] AS own
WITH r, own[0] AS s
WITH r, s IS NOT NULL AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
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
      AND any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
        AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) }) AS passes
RETURN collect([r.uuid, 0, CASE WHEN passes THEN r.gm_halves END]) AS found

// name: fetched_entity
// As near_entity, where the index cannot filter.
// params: scopes, vector, limit, ids, types, keys, pairs
// returns: found: id, piece and halves, which are null for what does not pass; owners: of the first that pass
CALL db.index.vector.queryNodes('gm_entity_vectors', $limit, $vector) YIELD node AS p
WITH p, [s IN $scopes WHERE s.group = p.group_id] AS own
WITH p, own[0] AS s
WITH p, s IS NOT NULL AND EXISTS {
  MATCH (v:GraphmemEntity {group_id: s.group, id: p.owner})
  WHERE v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
    AND ($ids IS NULL OR v.id IN $ids) AND ($types IS NULL OR v.type IN $types)
      AND ($pairs IS NULL OR v.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE v.attributes CONTAINS pair))
    AND ($keys IS NULL OR any(key IN v.keys WHERE key IN $keys)) } AS passes
RETURN collect([p.owner, p.piece, CASE WHEN passes THEN p.halves END]) AS found, collect(CASE WHEN passes THEN p.owner END)[..32] AS owners

// name: fetched_episode
// As near_episode, where the index cannot filter.
// params: scopes, vector, limit, ids, keys, kinds, sessions, actors, sources, entities, first, last, pairs
// returns: found: id, piece and halves, which are null for what does not pass
CALL db.index.vector.queryNodes('gm_episode_vectors', $limit, $vector) YIELD node AS p
WITH p, [s IN $scopes WHERE s.group = p.group_id] AS own
WITH p, own[0] AS s
OPTIONAL MATCH (e:GraphmemEpisode {group_id: s.group, id: p.owner})
WITH p, e IS NOT NULL AND ($ids IS NULL OR e.id IN $ids) AND ($keys IS NULL OR e.key IN $keys) AND ($kinds IS NULL OR e.kind IN $kinds)
  AND ($sessions IS NULL OR e.session IN $sessions) AND ($actors IS NULL OR e.actor IN $actors)
  AND ($sources IS NULL OR e.source IN $sources) AND e.reference_time >= $first AND e.reference_time < $last
  AND ($pairs IS NULL OR e.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE e.attributes CONTAINS pair))
  AND any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
    AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still)
  AND ($entities IS NULL OR EXISTS {
    MATCH (:GraphmemMention {group_id: s.group, episode: e.id})-[r:GRAPHMEM_NAMED]->(named:Entity)
    WHERE named.uuid IN $entities AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since }) AS passes
RETURN collect([p.owner, p.piece, CASE WHEN passes THEN p.halves END]) AS found

// name: fetched_community
// As near_community, where the index cannot filter: the nearest of all groups, then those that pass.
// params: scopes, vector, limit, pairs
// returns: found: id, piece and halves, which are null for what does not pass; owners: of the first that pass
CALL db.index.vector.queryNodes('gm_community_vectors', $limit, $vector) YIELD node AS c
WITH c, [s IN $scopes WHERE s.group = c.group_id] AS own
WITH c, own[0] AS s
WITH c, s IS NOT NULL AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
  AND $pairs IS NULL AS passes
RETURN collect([c.uuid, 0, CASE WHEN passes THEN c.gm_halves END]) AS found, collect(CASE WHEN passes THEN c.uuid END)[..64] AS owners

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

// name: words_fact
// Indexed words, by owner.
// params: ids
// returns: found: owner and words
UNWIND $ids AS id
MATCH ()-[r:RELATES_TO {uuid: id}]->() WHERE r.gm_words IS NOT NULL
RETURN collect([r.uuid, coalesce(r.gm_said, r.gm_words)]) AS found

// name: words_entity
// Indexed words, by owner.
// params: ids
// returns: found: owner and words
UNWIND $ids AS id
MATCH (e:Entity {uuid: id}) WHERE e.gm_words IS NOT NULL
RETURN collect([e.uuid, coalesce(e.gm_said, e.gm_words)]) AS found

// name: words_episode
// Indexed words, by owner.
// params: ids
// returns: found: owner and words
UNWIND $ids AS id
MATCH (n:GraphmemEpisode {id: id}) USING INDEX SEEK n:GraphmemEpisode(id)
WHERE n.gm_words IS NOT NULL
RETURN collect([n.id, coalesce(n.gm_said, n.gm_words)]) AS found

// name: words_community
// Indexed words, by owner.
// params: ids
// returns: found: owner and words
UNWIND $ids AS id
MATCH (c:GraphmemCommunity {uuid: id}) WHERE c.gm_words IS NOT NULL
RETURN collect([c.uuid, coalesce(c.gm_said, c.gm_words)]) AS found
