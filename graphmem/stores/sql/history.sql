-- name: extent
-- How many entities and how many facts a group ever had.
-- params: grp
-- returns: entities, facts
SELECT (SELECT count(DISTINCT id) FROM entity_version WHERE grp = :grp), (SELECT count(DISTINCT fact_id) FROM fact WHERE grp = :grp)

-- name: entity_ids_after
-- The next ids of entities that ever had a version.
-- params: grp, after, limit
-- returns: id
SELECT DISTINCT id FROM entity_version WHERE id > :after AND +grp = :grp ORDER BY id LIMIT :limit

-- name: fact_ids_after
-- The next ids of facts that ever had a version.
-- params: grp, after, limit
-- returns: fact_id
SELECT DISTINCT fact_id FROM fact WHERE fact_id > :after AND +grp = :grp ORDER BY fact_id LIMIT :limit

-- name: citations_ever
-- Every citation of these facts.
-- params: grp, ids
-- returns: fact_id, valid_at, episode, author, created_at, expired_at
SELECT fact_id, valid_at, episode, author, created_at, expired_at FROM citation
WHERE fact_id IN (SELECT value FROM json_each(:ids)) AND +grp = :grp

-- name: mentions_ever
-- Every mention in these episodes.
-- params: grp, ids
-- returns: the columns of a mention, its canonical entity, created_at, expired_at
SELECT e.id, m.position, m.entity, m.name, m.type, m.span_start, m.span_end, m.attributes, v.entity, v.created_at, v.expired_at
FROM episode AS e CROSS JOIN mention_version AS v ON v.episode = e.n CROSS JOIN mention AS m ON m.n = v.mention
WHERE e.id IN (SELECT value FROM json_each(:ids)) AND v.grp = :grp

-- name: shown_ever
-- When these episodes were visible.
-- params: grp, ids
-- returns: id, created_at, expired_at
SELECT e.id, v.created_at, v.expired_at FROM episode AS e CROSS JOIN visible AS v ON v.episode = e.n
WHERE e.id IN (SELECT value FROM json_each(:ids)) AND v.grp = :grp ORDER BY v.created_at

-- name: answers_after
-- The next recorded answers.
-- params: after, limit
-- returns: key, value, note
SELECT key, value, note FROM answer WHERE key > :after ORDER BY key LIMIT :limit

-- name: load_visible
-- Keep a visible interval of an episode.
-- params: grp, episode, created_at, expired_at, changed
INSERT INTO visible (episode, grp, created_at, expired_at, changed)
SELECT n, grp, :created_at, :expired_at, :changed FROM episode WHERE id = :episode AND grp = :grp
