// name: known_keys
// Which of these idempotency keys episodes have.
// params: scopes, keys
// returns: found: pairs of key and episode
UNWIND $scopes AS s
UNWIND $keys AS x
MATCH (e:GraphmemEpisode {group_id: s.group, key_index: x.key_index}) WHERE e.key = x.key AND e.gm_added <= s.pin
RETURN collect([e.key, e.id]) AS found

// name: answers_by_key
// Several recorded answers.
// params: keys
// returns: found: answers
UNWIND $keys AS key
MATCH (a:GraphmemAnswer {key_index: key})
RETURN collect(a {.key_index, .value, .note}) AS found

// name: latest_episodes
// The last visible episodes before some moments, of a session or of the whole group, with the mentions of those whose bodies are read.
// The orders are those of the indexes, so that nothing more is read.
// params: scopes, looks, most
// returns: found: the episodes of each look, newest first; mentions: as in `mentions_by_episode`; entities: those mentioned
UNWIND $scopes AS s
UNWIND $looks AS x
CALL (s, x) {
  WITH s, x WHERE x.session IS NULL
  MATCH (e:GraphmemEpisode {group_id: s.group})
  WHERE e.reference_time < x.last AND (x.kinds IS NULL OR e.kind IN x.kinds) AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
    ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
    AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
  RETURN e ORDER BY e.group_id DESC, e.reference_time DESC, e.seq DESC LIMIT $most
  UNION
  WITH s, x WHERE x.session IS NOT NULL
  MATCH (e:GraphmemEpisode {group_id: s.group, session_index: x.session_index})
  WHERE e.reference_time < x.last AND e.session = x.session AND (x.kinds IS NULL OR e.kind IN x.kinds)
    AND CASE WHEN e.gm_from IS NOT NULL THEN e.gm_from <= s.system AND e.gm_shown <= s.pin
      ELSE any(i IN range(0, size(e.shown) - 1, 4) WHERE e.shown[i] <= s.system AND e.shown[i + 2] <= s.pin
      AND e.shown[i + 1] > s.since AND e.shown[i + 3] > s.still) END
  RETURN e ORDER BY e.group_id DESC, e.session_index DESC, e.reference_time DESC, e.seq DESC LIMIT $most
}
WITH s, x, e ORDER BY e.reference_time DESC, e.seq DESC
WITH s, x, collect(e)[..x.limit] AS episodes
WITH s, collect([x.look, [e IN episodes | e {.id, .group_id, .seq, .key, .kind, .reference_time, .created_at, .actor, .session, .source,
    .zone, .attributes, body: CASE WHEN x.bodies THEN e.body ELSE '' END}]]) AS found,
  reduce(all = [], list IN collect(CASE WHEN x.bodies THEN [e IN episodes | e.id] ELSE [] END) | all + list) AS read
CALL (s, read) {
  UNWIND read AS id
  WITH DISTINCT s, id
  MATCH (m:GraphmemMention {group_id: s.group, episode: id})-[r:GRAPHMEM_NAMED]->(e:Entity)
  WHERE r.gm_added <= s.pin AND r.gm_ended > s.still AND r.gm_from <= s.system AND r.gm_to > s.since
  RETURN collect({mention: m {.episode, .position, .entity, .name, .type, .span_start, .span_end, .attributes, .group_id, .reference_time},
      entity: e.uuid, system: r {.gm_from, .gm_to, .gm_ended}}) AS mentions, collect(DISTINCT e.uuid) AS entities
}
WITH collect([found, mentions, entities]) AS parts
RETURN reduce(all = [], part IN parts | all + part[0]) AS found, reduce(all = [], part IN parts | all + part[1]) AS mentions,
    reduce(all = [], part IN parts | all + part[2]) AS entities

// name: likely_entities
// As `text_entity`, for several searches; one that has name keys is made only where no entity that passes has such a name.
// params: scopes, searches, tokens, limit, first
// returns: rows, total, containing: statistics as in `statistics`; found: the hits of each search; ids: the first of all
UNWIND $scopes AS s
UNWIND $searches AS x
WITH s, x WHERE NOT EXISTS {
  MATCH (n:GraphmemName {group_id: s.group})-[:GRAPHMEM_OF]->(v:GraphmemEntity)
  WHERE n.key IN x.keys AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since }
CALL (s, x) {
  CALL db.index.fulltext.queryNodes('gm_entity_words', s.prefix + x.query, {limit: 2000}) YIELD node AS e, score
  WHERE e.group_id = s.group AND EXISTS {
    MATCH (v:GraphmemEntity {group_id: s.group, id: e.uuid})
    WHERE v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since }
  WITH e, score ORDER BY score DESC, e.uuid LIMIT $limit
  RETURN collect([e.uuid, e.gm_words, score]) AS hits
}
WITH collect([x.search, hits]) AS found
CALL () {
  MATCH (g:GraphmemGroup)
  RETURN sum(g.entity_rows) AS rows, sum(g.entity_words) AS total
}
CALL () {
  UNWIND $tokens AS token
  MATCH (w:GraphmemWord {kind: 'entity', token: token})
  WITH token, sum(w.rows) AS holding
  RETURN collect([token, holding]) AS containing
}
RETURN rows, total, containing, found, reduce(all = [], pair IN found | all + [hit IN pair[1][..$first] | hit[0]]) AS ids

// name: near_entities
// As `near_entity`, for several names; one that has name keys only where no entity that passes has such a name.
// params: scopes, searches, limit, first
// returns: found: what each search finds; ids: the first of all
CYPHER 25
UNWIND $scopes AS s
UNWIND $searches AS x
WITH s, x WHERE NOT EXISTS {
  MATCH (n:GraphmemName {group_id: s.group})-[:GRAPHMEM_OF]->(v:GraphmemEntity)
  WHERE n.key IN x.keys AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since }
CALL (s, x) {
  MATCH (p:GraphmemEntityPiece)
  SEARCH p IN (VECTOR INDEX gm_entity_vectors FOR x.vector WHERE p.group_id = s.group LIMIT $limit)
  WITH p, EXISTS {
    MATCH (v:GraphmemEntity {group_id: s.group, id: p.owner})
    WHERE v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since } AS passes
  RETURN collect([p.owner, p.piece, CASE WHEN passes THEN p.halves END]) AS pieces
}
WITH collect([x.search, pieces]) AS found
RETURN found, reduce(all = [], pair IN found | all + [piece IN pair[1][..$first] | piece[0]]) AS ids

// name: fetched_entities
// As near_entities, where the index cannot filter. Its order is that of rounded vectors: the first are those of the exact ones.
// params: scopes, searches, limit, first
// returns: found: what each search finds; ids: the first of all
UNWIND $scopes AS s
UNWIND $searches AS x
WITH s, x WHERE NOT EXISTS {
  MATCH (n:GraphmemName {group_id: s.group})-[:GRAPHMEM_OF]->(v:GraphmemEntity)
  WHERE n.key IN x.keys AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since }
CALL (s, x) {
  CALL db.index.vector.queryNodes('gm_entity_vectors', $limit, x.vector) YIELD node AS p
  WITH p, p.group_id = s.group AND EXISTS {
    MATCH (v:GraphmemEntity {group_id: s.group, id: p.owner})
    WHERE v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since } AS passes
  WITH p, passes ORDER BY vector.similarity.cosine(p.embedding, x.vector) DESC
  RETURN collect([p.owner, p.piece, CASE WHEN passes THEN p.halves END]) AS pieces
}
WITH collect([x.search, pieces]) AS found
RETURN found, reduce(all = [], pair IN found | all + [piece IN pair[1] WHERE piece[2] IS NOT NULL | piece[0]][..$first]) AS ids

// name: scan_entities
// As `scan_entity`, for several names; one that has name keys only where no entity that passes has such a name.
// params: scopes, searches, limit, first
// returns: found: what each search finds; ids: the first of all
UNWIND $scopes AS s
UNWIND $searches AS x
WITH s, x WHERE NOT EXISTS {
  MATCH (n:GraphmemName {group_id: s.group})-[:GRAPHMEM_OF]->(v:GraphmemEntity)
  WHERE n.key IN x.keys AND v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since }
CALL (s, x) {
  MATCH (p:GraphmemEntityPiece {group_id: s.group})
  WHERE p.owner IS NOT NULL AND p.piece IS NOT NULL AND size(p.embedding) = size(x.vector)
  WITH p ORDER BY vector.similarity.cosine(p.embedding, x.vector) DESC
  WHERE EXISTS {
    MATCH (v:GraphmemEntity {group_id: s.group, id: p.owner})
    WHERE v.gm_added <= s.pin AND v.gm_ended > s.still AND v.gm_from <= s.system AND v.gm_to > s.since }
  WITH p LIMIT $limit
  RETURN collect([p.owner, p.piece, p.halves]) AS pieces
}
WITH collect([x.search, pieces]) AS found
RETURN found, reduce(all = [], pair IN found | all + [piece IN pair[1][..$first] | piece[0]]) AS ids

// name: beliefs_around
// What decides some facts, fetched before it is asked for bit by bit: the facts given, those of some slots (and, where a fact has
// two, of the slots that these lead to, twice), those between entities and those that entities are in by some relations; with the
// assertions that speak of them, the assertions that decisions join to these, what is believed and cited, and who is named.
// Links and operations come where the group has any.
// params: group, pin, still, wanted, most, linked, operated
// returns: wide, facts, between, sources, either, spoken, assertions, believed, citations, named, entities, links, heads, touched, operations
CALL () {
  UNWIND $wanted.source_slots AS slot
  MATCH (a:GraphmemAssertion {group_id: $group, key_source: slot[1]}) WHERE a.key_relation = slot[0] RETURN a
  UNION
  UNWIND $wanted.target_slots AS slot
  MATCH (a:GraphmemAssertion {group_id: $group, key_target: slot[1]}) WHERE a.key_relation = slot[0] RETURN a
}
WITH collect(a) AS near
CALL (near) {
  UNWIND near AS a
  WITH a WHERE a.key_relation IN $wanted.two_slots
  UNWIND [a.key_source, a.key_target] AS end
  WITH DISTINCT a.key_relation AS relation, end
  CALL (relation, end) {
    MATCH (a:GraphmemAssertion {group_id: $group, key_source: end}) WHERE a.key_relation = relation RETURN a
    UNION
    MATCH (a:GraphmemAssertion {group_id: $group, key_target: end}) WHERE a.key_relation = relation RETURN a
  }
  RETURN collect(DISTINCT [relation, end]) AS second, collect(a) AS far
}
CALL (far, second) {
  UNWIND far AS a
  UNWIND [a.key_source, a.key_target] AS end
  WITH DISTINCT a.key_relation AS relation, end, second
  WHERE NOT [relation, end] IN second
  CALL (relation, end) {
    MATCH (a:GraphmemAssertion {group_id: $group, key_source: end}) WHERE a.key_relation = relation RETURN a
    UNION
    MATCH (a:GraphmemAssertion {group_id: $group, key_target: end}) WHERE a.key_relation = relation RETURN a
  }
  RETURN collect(DISTINCT [relation, end]) AS third, collect(a) AS farther
}

// facts between entities, and those of some relations that entities are in
CALL () {
  UNWIND $wanted.ends AS one
  UNWIND $wanted.ends AS other
  WITH one, other WHERE one <> other
  MATCH (:Entity {group_id: $group, uuid: one})-[r:RELATES_TO]->(:Entity {group_id: $group, uuid: other})
  WHERE r.gm_added <= $pin AND r.gm_ended > $still
  WITH r ORDER BY r.gm_valid_from, r.gm_from, r.uuid LIMIT $most
  RETURN collect(r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to,
    .gm_from, .gm_to, .gm_ended, .gm_bounds, .gm_attributes}) AS between
}
CALL () {
  UNWIND $wanted.sources AS id
  MATCH (:Entity {group_id: $group, uuid: id})-[r:RELATES_TO]->()
  WHERE r.name IN $wanted.source_relations AND r.gm_added <= $pin AND r.gm_ended > $still
  WITH r ORDER BY r.gm_valid_from, r.gm_from, r.uuid LIMIT $most
  RETURN collect(r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to,
    .gm_from, .gm_to, .gm_ended, .gm_bounds, .gm_attributes}) AS sources
}
CALL () {
  UNWIND $wanted.either AS id
  MATCH (:Entity {group_id: $group, uuid: id})-[r:RELATES_TO]-()
  WHERE r.name IN $wanted.either_relations AND r.gm_added <= $pin AND r.gm_ended > $still
  WITH DISTINCT r ORDER BY r.gm_valid_from, r.gm_from, r.uuid LIMIT $most
  RETURN collect(r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to,
    .gm_from, .gm_to, .gm_ended, .gm_bounds, .gm_attributes}) AS either
}

// the assertions that speak of all these facts, and those that decisions join to them
CALL (near, far, farther, between, sources, either) {
  UNWIND [a IN near + far + farther | a.fact_id] + [r IN between + sources + either | r.gm_fact_id] + $wanted.facts AS id
  RETURN collect(DISTINCT id) AS facts
}
CALL (facts) {
  UNWIND facts AS id
  MATCH (a:GraphmemAssertion {group_id: $group, fact_id: id}) WHERE a.gm_added <= $pin
  RETURN collect(a) AS spoken
}
CALL (spoken) {
  UNWIND spoken AS a
  CALL (a) {
    MATCH (d:GraphmemDecision {group_id: $group, named: a.id}) RETURN d.assertion AS id
    UNION
    MATCH (d:GraphmemDecision {group_id: $group, assertion: a.id}) RETURN d.named AS id
  }
  WITH DISTINCT id
  MATCH (a:GraphmemAssertion {group_id: $group, id: id}) WHERE a.gm_added <= $pin
  RETURN collect(a) AS joined
}
CALL (spoken, joined) {
  UNWIND spoken + joined AS a
  WITH DISTINCT a
  MATCH (e:GraphmemEpisode {group_id: $group, id: a.episode}) USING INDEX e:GraphmemEpisode(group_id, id)
  RETURN collect({assertion: properties(a), head:
    e {.id, .group_id, .seq, .key, .kind, .reference_time, .created_at, .actor, .session, .source, .zone, .attributes}}) AS assertions
}

// what is believed of the facts, and who is named
CALL (facts) {
  UNWIND facts AS id
  MATCH ()-[r:RELATES_TO {group_id: $group, gm_fact_id: id}]->() WHERE r.gm_added <= $pin AND r.gm_ended > $still
  RETURN collect(r {.uuid, .gm_fact_id, .group_id, .name, .source_node_uuid, .target_node_uuid, .fact, .gm_valid_from, .gm_valid_to,
    .gm_from, .gm_to, .gm_ended, .gm_bounds, .gm_attributes}) AS believed
}
CALL (facts) {
  UNWIND facts AS id
  MATCH (c:GraphmemCitation {group_id: $group, fact_id: id}) WHERE c.gm_added <= $pin AND c.gm_ended > $still
  RETURN collect(c {.fact_id, .valid_at, .episode, .by, .gm_from, .gm_to, .gm_ended, .group_id}) AS citations
}
CALL (spoken, joined) {
  UNWIND reduce(all = $wanted.entities, a IN spoken + joined | all + [a.source, a.target, a.key_source, a.key_target]) AS id
  RETURN collect(DISTINCT id) AS named
}
CALL (named) {
  UNWIND named AS id
  MATCH (v:GraphmemEntity {group_id: $group, id: id}) WHERE v.gm_added <= $pin AND v.gm_ended > $still
  RETURN collect(v {.uuid, .id, .group_id, .name, .name_key, .type, .aliases, .attributes, .gm_from, .gm_to, .gm_ended}) AS entities
}

// links, and operations with what undoes them
CALL (named) {
  UNWIND CASE WHEN $linked THEN named ELSE [] END AS id
  CALL (id) {
    MATCH (l:GraphmemLink {group_id: $group, one: id}) RETURN l
    UNION
    MATCH (l:GraphmemLink {group_id: $group, other: id}) RETURN l
  }
  WITH DISTINCT l WHERE l.gm_added <= $pin
  RETURN collect(l {.episode, .one, .other, .seq, .position}) AS links
}
CALL (named, spoken, joined, links) {
  UNWIND CASE WHEN $operated
    THEN named + [l IN links | l.episode] + reduce(all = [], a IN spoken + joined | all + [a.id, a.episode]) ELSE [] END AS id
  WITH DISTINCT id
  RETURN collect(id) AS touched
}
CALL (touched) {
  UNWIND touched AS id
  MATCH (t:GraphmemTarget {group_id: $group, target: id})
  RETURN collect(DISTINCT t.operation) AS first_operations
}
CALL (first_operations) {
  UNWIND first_operations AS id
  MATCH (t:GraphmemTarget {group_id: $group, target: id})
  RETURN collect(DISTINCT t.operation) AS restores
}
CALL (restores) {
  UNWIND restores AS id
  MATCH (t:GraphmemTarget {group_id: $group, target: id})
  RETURN collect(DISTINCT t.operation) AS again
}
CALL (first_operations, restores, again) {
  UNWIND first_operations + restores + again AS id
  WITH DISTINCT id
  MATCH (o:GraphmemOperation {group_id: $group, id: id}) WHERE o.gm_added <= $pin
  RETURN collect(properties(o)) AS operations
}
CALL (links) {
  UNWIND links AS l
  WITH DISTINCT l.episode AS id
  MATCH (e:GraphmemEpisode {group_id: $group, id: id})
  RETURN collect(e {.id, .group_id, .seq, .key, .kind, .reference_time, .created_at, .actor, .session, .source, .zone, .attributes}) AS heads
}
RETURN second + third AS wide, facts, between, sources, either, [a IN spoken | a.id] AS spoken, assertions, believed, citations, named,
    entities, links, heads, touched + first_operations + restores AS touched, operations
