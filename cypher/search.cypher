// name: text_fact
// Fact versions that pass, best words first.
// The index keeps lengths rounded, so that its scores are up to an eighth off: those from 15 % below that of the last one wanted count.
// params: scopes, query, tokens, limit, most, uuids, fact_ids, sources, targets, entities, relations, overlaps_start, overlaps_end, pairs, ends, cited
// returns: rows, total, found: statistics as in `statistics`; hits: id, words, the index's score, and attributes if these are asked for
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
        AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
          ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
          AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END })
  WITH r, score, CASE WHEN $pairs IS NOT NULL THEN r.gm_attributes END AS attributes LIMIT $most
  WITH collect([r, score, attributes]) AS read
  WITH read, CASE WHEN $pairs IS NULL AND size(read) > $limit THEN 0.85 * read[$limit - 1][1] ELSE 0.0 END AS least
  UNWIND [row IN read WHERE row[1] >= least] AS row
  WITH row[0] AS r, row[1] AS score, row[2] AS attributes
  RETURN r.uuid AS id, r.gm_words AS words, score, attributes
}
WITH id, words, score, attributes ORDER BY score DESC
WITH collect([id, words, score, attributes]) AS hits
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
// Where few of the best pass, the rest of the index is read; to read it always would be to sort all names that share a word.
// The index keeps lengths rounded, so that its scores are up to an eighth off: those from 15 % below that of the last one wanted count.
// params: scopes, query, tokens, limit, most, ids, types, keys, pairs
// returns: rows, total, found: statistics as in `statistics`; hits: id, words, the index's score, and attributes if these are asked for
UNWIND $scopes AS s
CALL (s) {
  CALL db.index.fulltext.queryNodes('gm_entity_words', s.prefix + $query, {limit: $most}) YIELD node AS e, score
  OPTIONAL MATCH (v:GraphmemEntity {group_id: s.group, id: e.uuid})
  WHERE e.group_id = s.group AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
    AND ($ids IS NULL OR v.id IN $ids) AND ($types IS NULL OR v.type IN $types) AND ($keys IS NULL OR any(key IN v.keys WHERE key IN $keys))
    AND ($pairs IS NULL OR v.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE v.attributes CONTAINS pair))
  RETURN count(*) < $most AS whole,
    collect(CASE WHEN v IS NOT NULL THEN [e, score, CASE WHEN $pairs IS NOT NULL THEN v.attributes END] END) AS best
}
CALL (s, whole, best) {
  WITH s, whole, best WHERE NOT whole AND size(best) < $most
  CALL db.index.fulltext.queryNodes('gm_entity_words', s.prefix + $query, {skip: $most}) YIELD node AS e, score
  WHERE e.group_id = s.group
  MATCH (v:GraphmemEntity {group_id: s.group, id: e.uuid})
  WHERE v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since
    AND ($ids IS NULL OR v.id IN $ids) AND ($types IS NULL OR v.type IN $types) AND ($keys IS NULL OR any(key IN v.keys WHERE key IN $keys))
    AND ($pairs IS NULL OR v.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE v.attributes CONTAINS pair))
  WITH e, score, CASE WHEN $pairs IS NOT NULL THEN v.attributes END AS attributes LIMIT $most
  RETURN collect([e, score, attributes]) AS others
}
CALL (best, others) {
  UNWIND best + others AS row
  WITH row ORDER BY row[1] DESC, row[0].uuid LIMIT $most
  WITH collect(row) AS read
  WITH read, CASE WHEN $pairs IS NULL AND size(read) > $limit THEN 0.85 * read[$limit - 1][1] ELSE 0.0 END AS least
  UNWIND [row IN read WHERE row[1] >= least] AS row
  RETURN row[0].uuid AS id, row[0].gm_words AS words, row[1] AS score, row[2] AS attributes
}
WITH id, words, score, attributes ORDER BY score DESC
WITH collect([id, words, score, attributes]) AS hits
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
// The index keeps lengths rounded, so that its scores are up to an eighth off: those from 15 % below that of the last one wanted count.
// params: scopes, query, tokens, limit, most, ids, keys, kinds, sessions, actors, sources, entities, first, last, pairs, heard, most_heard
// returns: rows, total, found: statistics as in `statistics`; hits: id, words, the index's score, and attributes if these are asked for; best: ids of those that may be among the first `heard`
UNWIND $scopes AS s
CALL (s) {
  CALL db.index.fulltext.queryNodes('gm_episode_words', s.prefix + $query) YIELD node AS e, score
  WHERE e.group_id = s.group AND ($ids IS NULL OR e.id IN $ids) AND ($keys IS NULL OR e.key IN $keys) AND ($kinds IS NULL OR e.kind IN $kinds)
    AND ($sessions IS NULL OR e.session IN $sessions) AND ($actors IS NULL OR e.actor IN $actors)
    AND ($sources IS NULL OR e.source IN $sources) AND e.reference_time >= $first AND e.reference_time < $last
    AND ($pairs IS NULL OR e.attributes STARTS WITH '{"$map"' OR all(pair IN $pairs WHERE e.attributes CONTAINS pair))
    AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
      ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
      AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
    AND ($entities IS NULL OR EXISTS {
      MATCH (:GraphmemMention {group_id: s.group, episode: e.id})-[r:GRAPHMEM_NAMED]->(named:Entity)
      WHERE named.uuid IN $entities AND r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since })
  WITH e, score, CASE WHEN $pairs IS NOT NULL THEN e.attributes END AS attributes LIMIT $most
  WITH collect([e, score, attributes]) AS read
  WITH read, CASE WHEN $pairs IS NULL AND size(read) > $limit THEN 0.85 * read[$limit - 1][1] ELSE 0.0 END AS least
  UNWIND [row IN read WHERE row[1] >= least] AS row
  WITH row[0] AS e, row[1] AS score, row[2] AS attributes
  RETURN e.id AS id, e.gm_words AS words, score, attributes
}
WITH id, words, score, attributes ORDER BY score DESC
WITH collect([id, words, score, attributes]) AS hits
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
RETURN rows, total, found, hits, [hit IN hits[..$most_heard] WHERE hit[2] >= 0.85 * coalesce(hits[$heard - 1][2], 0.0) | hit[0]] AS best

// name: text_community
// Versions of communities that pass, best words first.
// The index keeps lengths rounded, so that its scores are up to an eighth off: those from 15 % below that of the last one wanted count.
// params: scopes, query, tokens, limit, most, pairs
// returns: rows, total, found: statistics as in `statistics`; hits: id, words, the index's score, and attributes if these are asked for
UNWIND $scopes AS s
CALL (s) {
  CALL db.index.fulltext.queryNodes('gm_community_words', s.prefix + $query) YIELD node AS c, score
  WHERE c.group_id = s.group AND c.gm_added <= s.pin AND c.gm_ended > s.still AND c.gm_from <= s.system AND c.gm_to > s.since
    AND $pairs IS NULL
  WITH c, score LIMIT $most
  WITH collect([c, score, null]) AS read
  WITH read, CASE WHEN $pairs IS NULL AND size(read) > $limit THEN 0.85 * read[$limit - 1][1] ELSE 0.0 END AS least
  UNWIND [row IN read WHERE row[1] >= least] AS row
  WITH row[0] AS c, row[1] AS score, row[2] AS attributes
  RETURN c.uuid AS id, c.gm_words AS words, score, attributes
}
WITH id, words, score, attributes ORDER BY score DESC
WITH collect([id, words, score, attributes]) AS hits
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

// name: facts_joined
// Of fact versions those with an end of the types, and those that cite such an episode as are asked for.
// params: scopes, ids, ends, cited
// returns: found: the uuid of each
UNWIND $scopes AS s
UNWIND $ids AS id
MATCH ()-[r:RELATES_TO {group_id: s.group, uuid: id}]->()
WHERE ($ends IS NULL OR EXISTS {
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
WITH DISTINCT r.uuid AS uuid
RETURN collect([uuid]) AS found
