-- name: group_rows
-- Row numbers of groups by name.
-- params: names
-- returns: n, name
SELECT n, name FROM grp WHERE name IN (SELECT value FROM json_each(:names))

-- name: group_names
-- All groups with a log, sorted.
-- returns: name
SELECT name FROM grp WHERE seq > 0 ORDER BY name

-- name: group_head
-- The end of a group's log.
-- params: grp
-- returns: seq, at
SELECT seq, at FROM grp WHERE n = :grp

-- name: log_places
-- Where and when each entry of a group's log was recorded, in order.
-- params: grp
-- returns: seq, created_at
SELECT seq, created_at FROM episode WHERE grp = :grp UNION ALL SELECT seq, created_at FROM operation WHERE grp = :grp ORDER BY seq

-- name: log_page
-- The next row numbers of episodes in the log.
-- params: grp, after, limit
-- returns: id
SELECT id FROM episode WHERE grp = :grp AND seq > :after ORDER BY seq LIMIT :limit

-- name: episode_id_by_key
-- The episode added under an idempotency key.
-- params: grp, key
-- returns: id
SELECT id FROM episode WHERE grp = :grp AND key = :key

-- name: episode_rows
-- Whole episodes by id, with what the log keeps beside the body; the plus keeps SQLite from reading the whole group in its order.
-- params: grp, ids
-- returns: the columns of an episode, then its body, search_text and digest
SELECT n, id, grp, seq, key, kind, reference_time, created_at, actor, session, source, zone, attributes, body, search_text, digest
FROM episode WHERE id IN (SELECT value FROM json_each(:ids)) AND +grp = :grp ORDER BY seq

-- name: episode_heads
-- Episodes by id, without bodies; the plus as above.
-- params: grp, ids
-- returns: the columns of an episode, an empty body
SELECT n, id, grp, seq, key, kind, reference_time, created_at, actor, session, source, zone, attributes, ''
FROM episode WHERE id IN (SELECT value FROM json_each(:ids)) AND +grp = :grp ORDER BY seq

-- name: assertions_of_rows
-- Assertions of episodes by the episodes' row numbers.
-- params: rows
-- returns: episode row, then the columns of an assertion
SELECT a.episode, a.id, e.id, a.position, a.source, a.relation, a.target, a.text, a.kind, a.start_unit, a.end_unit, a.still, a.same_as,
    a.excludes, a.span_start, a.span_end, a.attributes
FROM json_each(:rows) AS r CROSS JOIN assertion AS a ON a.episode = r.value JOIN episode AS e ON e.n = a.episode
ORDER BY a.episode, a.position, a.id

-- name: mentions_of_rows
-- Mentions of episodes by the episodes' row numbers.
-- params: rows
-- returns: episode row, then the columns of a mention
SELECT m.episode, e.id, m.position, m.entity, m.name, m.type, m.span_start, m.span_end, m.attributes
FROM json_each(:rows) AS r CROSS JOIN mention AS m ON m.episode = r.value JOIN episode AS e ON e.n = m.episode
ORDER BY m.episode, m.position

-- name: links_of_rows
-- Links of episodes by the episodes' row numbers.
-- params: rows
-- returns: episode row, one entity, the other
SELECT l.episode, l.one, l.other FROM json_each(:rows) AS r CROSS JOIN link AS l ON l.episode = r.value ORDER BY l.episode, l.position

-- name: links_of_entities
-- Links that name one of these entities.
-- params: grp, ids
-- returns: episode id, one entity, the other
SELECT e.id, l.one, l.other FROM link AS l CROSS JOIN episode AS e ON e.n = l.episode
WHERE (l.one IN (SELECT value FROM json_each(:ids)) OR l.other IN (SELECT value FROM json_each(:ids))) AND e.grp = :grp
ORDER BY e.seq, l.position

-- name: operations_all
-- Every operation of a group.
-- params: grp
-- returns: the columns of an operation
SELECT id, kind, targets, arguments, seq, created_at, author, reason, digest FROM operation WHERE grp = :grp ORDER BY seq

-- name: operations_named
-- Operations by their ids or by one of their targets.
-- params: grp, ids, targets
-- returns: the columns of an operation
SELECT id, kind, targets, arguments, seq, created_at, author, reason, digest FROM operation
WHERE (id IN (SELECT value FROM json_each(:ids))
    OR n IN (SELECT t.operation FROM operation_target AS t WHERE t.target IN (SELECT value FROM json_each(:targets)))) AND +grp = :grp
ORDER BY seq

-- name: assertions_by_id
-- Assertions by their ids.
-- params: grp, ids
-- returns: the columns of an assertion
SELECT a.id, e.id, a.position, a.source, a.relation, a.target, a.text, a.kind, a.start_unit, a.end_unit, a.still, a.same_as, a.excludes,
    a.span_start, a.span_end, a.attributes
FROM assertion AS a JOIN episode AS e ON e.n = a.episode
WHERE a.id IN (SELECT value FROM json_each(:ids)) AND +e.grp = :grp
ORDER BY e.seq, a.position, a.id

-- name: assertions_by_fact
-- Assertions that speak of these facts now.
-- params: grp, ids
-- returns: the columns of an assertion
SELECT a.id, e.id, a.position, a.source, a.relation, a.target, a.text, a.kind, a.start_unit, a.end_unit, a.still, a.same_as, a.excludes,
    a.span_start, a.span_end, a.attributes
FROM fact_key AS k JOIN assertion AS a ON a.id = k.assertion JOIN episode AS e ON e.n = a.episode
WHERE k.fact_id IN (SELECT value FROM json_each(:ids)) AND +e.grp = :grp
ORDER BY e.seq, a.position, a.id

-- name: assertions_by_episode
-- Assertions of these episodes.
-- params: grp, ids
-- returns: the columns of an assertion
SELECT a.id, e.id, a.position, a.source, a.relation, a.target, a.text, a.kind, a.start_unit, a.end_unit, a.still, a.same_as, a.excludes,
    a.span_start, a.span_end, a.attributes
FROM assertion AS a JOIN episode AS e ON e.n = a.episode
WHERE e.id IN (SELECT value FROM json_each(:ids)) AND +e.grp = :grp
ORDER BY e.seq, a.position, a.id

-- name: assertions_by_entity
-- Assertions with one of these entities as source or target, as recorded or in the fact they speak of now.
-- params: grp, ids
-- returns: the columns of an assertion
SELECT a.id, e.id, a.position, a.source, a.relation, a.target, a.text, a.kind, a.start_unit, a.end_unit, a.still, a.same_as, a.excludes,
    a.span_start, a.span_end, a.attributes
FROM assertion AS a JOIN episode AS e ON e.n = a.episode
WHERE a.n IN (
    SELECT n FROM assertion WHERE source IN (SELECT value FROM json_each(:ids)) OR target IN (SELECT value FROM json_each(:ids))
    UNION
    SELECT t.n FROM fact_key AS k JOIN assertion AS t ON t.id = k.assertion
    WHERE k.source IN (SELECT value FROM json_each(:ids)) OR k.target IN (SELECT value FROM json_each(:ids))
) AND +e.grp = :grp
ORDER BY e.seq, a.position, a.id

-- name: assertions_by_decision
-- Assertions whose decisions name one of these assertions.
-- params: grp, ids
-- returns: the columns of an assertion
SELECT a.id, e.id, a.position, a.source, a.relation, a.target, a.text, a.kind, a.start_unit, a.end_unit, a.still, a.same_as, a.excludes,
    a.span_start, a.span_end, a.attributes
FROM assertion AS a JOIN episode AS e ON e.n = a.episode
WHERE a.n IN (SELECT d.assertion FROM decision AS d WHERE d.named IN (SELECT value FROM json_each(:ids))) AND +e.grp = :grp
ORDER BY e.seq, a.position, a.id

-- name: keys_by_fact
-- Keys of facts that some assertion speaks of now.
-- params: grp, ids
-- returns: fact_id, relation, source, target, variant
SELECT DISTINCT fact_id, relation, source, target, variant FROM fact_key
WHERE fact_id IN (SELECT value FROM json_each(:ids)) AND +grp = :grp ORDER BY fact_id

-- name: keys_by_source
-- Keys of facts of a relation and source, by pairs [relation, entity].
-- params: grp, pairs
-- returns: fact_id, relation, source, target, variant
SELECT DISTINCT k.fact_id, k.relation, k.source, k.target, k.variant FROM json_each(:pairs) AS p
CROSS JOIN fact_key AS k ON k.source = json_extract(p.value, '$[1]') AND k.relation = json_extract(p.value, '$[0]') AND +k.grp = :grp
ORDER BY k.fact_id

-- name: keys_by_target
-- Keys of facts of a relation and target, by pairs [relation, entity].
-- params: grp, pairs
-- returns: fact_id, relation, source, target, variant
SELECT DISTINCT k.fact_id, k.relation, k.source, k.target, k.variant FROM json_each(:pairs) AS p
CROSS JOIN fact_key AS k ON k.target = json_extract(p.value, '$[1]') AND k.relation = json_extract(p.value, '$[0]') AND +k.grp = :grp
ORDER BY k.fact_id

-- name: fact_ids_of
-- The facts that assertions speak of now.
-- params: grp, ids
-- returns: assertion, fact_id
SELECT assertion, fact_id FROM fact_key WHERE assertion IN (SELECT value FROM json_each(:ids)) AND grp = :grp

-- name: mention_records
-- Mentions recorded for these entities.
-- params: grp, ids
-- returns: the columns of a mention
SELECT e.id, m.position, m.entity, m.name, m.type, m.span_start, m.span_end, m.attributes
FROM mention AS m JOIN episode AS e ON e.n = m.episode
WHERE m.entity IN (SELECT value FROM json_each(:ids)) AND +e.grp = :grp
ORDER BY e.seq, m.position

-- name: answer_of
-- A recorded answer.
-- params: key
-- returns: value, note
SELECT value, note FROM answer WHERE key = :key

-- name: meta_of
-- A setting kept with the data.
-- params: name
-- returns: value
SELECT value FROM meta WHERE name = :name
