-- name: facts_in_groups
-- Every fact version that passes.
-- params: grps, system, valid_lo, valid_hi
-- returns: the columns of a fact version
SELECT n, uuid, fact_id, grp, relation, source, target, text, valid_at, invalid_at, created_at, expired_at, start_precision, start_origin,
    end_precision, end_origin, attributes
FROM fact
WHERE grp IN (SELECT value FROM json_each(:grps)) AND created_at <= :system AND expired_at > :system
    AND valid_at <= :valid_hi AND invalid_at > :valid_lo
ORDER BY valid_at, created_at, uuid

-- name: facts_by_uuid
-- Fact versions by uuid.
-- params: ids, grps, system, valid_lo, valid_hi
-- returns: the columns of a fact version
SELECT n, uuid, fact_id, grp, relation, source, target, text, valid_at, invalid_at, created_at, expired_at, start_precision, start_origin,
    end_precision, end_origin, attributes
FROM fact
WHERE uuid IN (SELECT value FROM json_each(:ids)) AND +grp IN (SELECT value FROM json_each(:grps))
    AND created_at <= :system AND expired_at > :system AND valid_at <= :valid_hi AND invalid_at > :valid_lo
ORDER BY valid_at, created_at, uuid

-- name: facts_by_fact_id
-- Versions of these facts.
-- params: ids, grps, system, valid_lo, valid_hi
-- returns: the columns of a fact version
SELECT n, uuid, fact_id, grp, relation, source, target, text, valid_at, invalid_at, created_at, expired_at, start_precision, start_origin,
    end_precision, end_origin, attributes
FROM fact
WHERE fact_id IN (SELECT value FROM json_each(:ids)) AND +grp IN (SELECT value FROM json_each(:grps))
    AND created_at <= :system AND expired_at > :system AND +valid_at <= :valid_hi AND invalid_at > :valid_lo
ORDER BY valid_at, created_at, uuid

-- name: facts_by_entity
-- Fact versions with one of these entities at either end.
-- params: ids, relations, grps, system, valid_lo, valid_hi
-- returns: the columns of a fact version
SELECT n, uuid, fact_id, grp, relation, source, target, text, valid_at, invalid_at, created_at, expired_at, start_precision, start_origin,
    end_precision, end_origin, attributes
FROM fact
WHERE n IN (
        SELECT f.n FROM fact AS f WHERE f.source IN (SELECT value FROM json_each(:ids)) AND f.expired_at > :system
            AND (:relations IS NULL OR +f.relation IN (SELECT value FROM json_each(:relations)))
        UNION ALL
        SELECT f.n FROM fact AS f WHERE f.target IN (SELECT value FROM json_each(:ids)) AND f.expired_at > :system
            AND (:relations IS NULL OR +f.relation IN (SELECT value FROM json_each(:relations))))
    AND +grp IN (SELECT value FROM json_each(:grps))
    AND created_at <= :system AND expired_at > :system AND +valid_at <= :valid_hi AND invalid_at > :valid_lo
ORDER BY valid_at, created_at, uuid

-- name: facts_by_source
-- Fact versions with one of these entities as source.
-- params: ids, targets, relations, grps, system, valid_lo, valid_hi
-- returns: the columns of a fact version
SELECT n, uuid, fact_id, grp, relation, source, target, text, valid_at, invalid_at, created_at, expired_at, start_precision, start_origin,
    end_precision, end_origin, attributes
FROM fact
WHERE source IN (SELECT value FROM json_each(:ids)) AND +grp IN (SELECT value FROM json_each(:grps))
    AND created_at <= :system AND expired_at > :system AND +valid_at <= :valid_hi AND invalid_at > :valid_lo
    AND (:targets IS NULL OR +target IN (SELECT value FROM json_each(:targets)))
    AND (:relations IS NULL OR +relation IN (SELECT value FROM json_each(:relations)))
ORDER BY valid_at, created_at, uuid

-- name: facts_by_target
-- Fact versions with one of these entities as target.
-- params: ids, relations, grps, system, valid_lo, valid_hi
-- returns: the columns of a fact version
SELECT n, uuid, fact_id, grp, relation, source, target, text, valid_at, invalid_at, created_at, expired_at, start_precision, start_origin,
    end_precision, end_origin, attributes
FROM fact
WHERE target IN (SELECT value FROM json_each(:ids)) AND +grp IN (SELECT value FROM json_each(:grps))
    AND created_at <= :system AND expired_at > :system AND +valid_at <= :valid_hi AND invalid_at > :valid_lo
    AND (:relations IS NULL OR +relation IN (SELECT value FROM json_each(:relations)))
ORDER BY valid_at, created_at, uuid

-- name: facts_by_relation
-- Fact versions of these relations.
-- params: ids, grps, system, valid_lo, valid_hi
-- returns: the columns of a fact version
SELECT n, uuid, fact_id, grp, relation, source, target, text, valid_at, invalid_at, created_at, expired_at, start_precision, start_origin,
    end_precision, end_origin, attributes
FROM fact
WHERE relation IN (SELECT value FROM json_each(:ids)) AND +grp IN (SELECT value FROM json_each(:grps))
    AND created_at <= :system AND expired_at > :system AND +valid_at <= :valid_hi AND invalid_at > :valid_lo
ORDER BY valid_at, created_at, uuid

-- name: facts_ever
-- Every fact version ever believed in a group.
-- params: grp
-- returns: the columns of a fact version
SELECT n, uuid, fact_id, grp, relation, source, target, text, valid_at, invalid_at, created_at, expired_at, start_precision, start_origin,
    end_precision, end_origin, attributes
FROM fact WHERE grp = :grp ORDER BY created_at, uuid

-- name: count_facts_ever
-- How many fact versions were ever believed in a group.
-- params: grp
-- returns: count
SELECT count(*) FROM fact WHERE grp = :grp

-- name: facts_ever_by_uuid
-- Fact versions of a group by uuid, believed now or not.
-- params: grp, ids
-- returns: the columns of a fact version
SELECT n, uuid, fact_id, grp, relation, source, target, text, valid_at, invalid_at, created_at, expired_at, start_precision, start_origin,
    end_precision, end_origin, attributes
FROM fact WHERE uuid IN (SELECT value FROM json_each(:ids)) AND +grp = :grp ORDER BY created_at, uuid

-- name: facts_ever_by_fact_id
-- Every version of these facts.
-- params: grp, ids
-- returns: the columns of a fact version
SELECT n, uuid, fact_id, grp, relation, source, target, text, valid_at, invalid_at, created_at, expired_at, start_precision, start_origin,
    end_precision, end_origin, attributes
FROM fact WHERE fact_id IN (SELECT value FROM json_each(:ids)) AND +grp = :grp ORDER BY created_at, uuid

-- name: citations_all
-- Citations believed.
-- params: grps, system
-- returns: fact_id, valid_at, episode, author, created_at, expired_at
SELECT fact_id, valid_at, episode, author, created_at, expired_at FROM citation
WHERE grp IN (SELECT value FROM json_each(:grps)) AND created_at <= :system AND expired_at > :system
ORDER BY fact_id, valid_at, episode, author

-- name: cited_now
-- What of each citation believed now tells it from others of its fact.
-- params: grp, open_end
-- returns: fact_id, valid_at, author
SELECT fact_id, valid_at, author FROM citation WHERE grp = :grp AND expired_at = :open_end

-- name: citations_by_fact
-- Citations of these facts.
-- params: ids, grps, system
-- returns: fact_id, valid_at, episode, author, created_at, expired_at
SELECT fact_id, valid_at, episode, author, created_at, expired_at FROM citation
WHERE fact_id IN (SELECT value FROM json_each(:ids)) AND grp IN (SELECT value FROM json_each(:grps))
    AND created_at <= :system AND expired_at > :system
ORDER BY fact_id, valid_at, episode, author

-- name: citations_by_episode
-- Citations of these episodes.
-- params: ids, grps, system
-- returns: fact_id, valid_at, episode, author, created_at, expired_at
SELECT fact_id, valid_at, episode, author, created_at, expired_at FROM citation
WHERE episode IN (SELECT value FROM json_each(:ids)) AND grp IN (SELECT value FROM json_each(:grps))
    AND created_at <= :system AND expired_at > :system
ORDER BY fact_id, valid_at, episode, author

-- name: entities_in_groups
-- Entities believed.
-- params: grps, system
-- returns: the columns of an entity version
SELECT n, uuid, id, grp, name, type, aliases, attributes, created_at, expired_at FROM entity_version
WHERE grp IN (SELECT value FROM json_each(:grps)) AND created_at <= :system AND expired_at > :system
ORDER BY name_key, id

-- name: entities_by_id
-- Entities by id.
-- params: ids, grps, system
-- returns: the columns of an entity version
SELECT n, uuid, id, grp, name, type, aliases, attributes, created_at, expired_at FROM entity_version
WHERE id IN (SELECT value FROM json_each(:ids)) AND +grp IN (SELECT value FROM json_each(:grps))
    AND created_at <= :system AND expired_at > :system
ORDER BY name_key, id

-- name: entities_by_name
-- Entities by the key of their name or of an alias.
-- params: ids, grps, system
-- returns: the columns of an entity version
SELECT n, uuid, id, grp, name, type, aliases, attributes, created_at, expired_at FROM entity_version
WHERE n IN (SELECT e.version FROM entity_name AS e WHERE e.key IN (SELECT value FROM json_each(:ids)))
    AND +grp IN (SELECT value FROM json_each(:grps)) AND created_at <= :system AND expired_at > :system
ORDER BY name_key, id

-- name: entities_ever
-- Every version of these entities.
-- params: ids, grp
-- returns: the columns of an entity version
SELECT n, uuid, id, grp, name, type, aliases, attributes, created_at, expired_at FROM entity_version
WHERE id IN (SELECT value FROM json_each(:ids)) AND +grp = :grp
ORDER BY id, created_at

-- name: value_ids
-- Which of these ids are entities of the type Value.
-- params: ids, grps, system, type
-- returns: id
SELECT id FROM entity_version
WHERE id IN (SELECT value FROM json_each(:ids)) AND type = :type AND +grp IN (SELECT value FROM json_each(:grps))
    AND created_at <= :system AND expired_at > :system

-- name: mentions_all
-- Mentions believed.
-- params: grps, system, limit
-- returns: the columns of a mention, its canonical entity, created_at, expired_at
SELECT e.id, m.position, m.entity, m.name, m.type, m.span_start, m.span_end, m.attributes, v.entity, v.created_at, v.expired_at
FROM mention_version AS v JOIN mention AS m ON m.n = v.mention JOIN episode AS e ON e.n = v.episode
WHERE v.grp IN (SELECT value FROM json_each(:grps)) AND v.created_at <= :system AND v.expired_at > :system
ORDER BY e.reference_time DESC, e.id, m.position, v.entity LIMIT :limit

-- name: mentioned_now
-- What is told of an entity by each mention believed now.
-- params: grp, open_end
-- returns: episode, position, canonical entity, name
SELECT e.id, m.position, v.entity, m.name
FROM mention_version AS v JOIN mention AS m ON m.n = v.mention JOIN episode AS e ON e.n = v.episode
WHERE v.grp = :grp AND v.expired_at = :open_end

-- name: mentions_by_episode
-- Mentions of these episodes.
-- params: ids, grps, system, limit
-- returns: the columns of a mention, its canonical entity, created_at, expired_at
SELECT e.id, m.position, m.entity, m.name, m.type, m.span_start, m.span_end, m.attributes, v.entity, v.created_at, v.expired_at
FROM episode AS e CROSS JOIN mention_version AS v ON v.episode = e.n CROSS JOIN mention AS m ON m.n = v.mention
WHERE e.id IN (SELECT value FROM json_each(:ids)) AND v.grp IN (SELECT value FROM json_each(:grps))
    AND v.created_at <= :system AND v.expired_at > :system
ORDER BY e.reference_time DESC, e.id, m.position, v.entity LIMIT :limit

-- name: mentions_by_entity
-- Mentions of these canonical entities.
-- params: ids, grps, system, limit
-- returns: the columns of a mention, its canonical entity, created_at, expired_at
SELECT e.id, m.position, m.entity, m.name, m.type, m.span_start, m.span_end, m.attributes, v.entity, v.created_at, v.expired_at
FROM mention_version AS v CROSS JOIN mention AS m ON m.n = v.mention CROSS JOIN episode AS e ON e.n = v.episode
WHERE v.entity IN (SELECT value FROM json_each(:ids)) AND v.grp IN (SELECT value FROM json_each(:grps))
    AND v.created_at <= :system AND v.expired_at > :system
ORDER BY e.reference_time DESC, e.id, m.position, v.entity LIMIT :limit

-- name: mentioned
-- Which episodes mention these canonical entities; an episode's mentions have ascending row numbers.
-- params: ids, grps, system, limit
-- returns: episode, canonical entity
SELECT e.id, v.entity
FROM mention_version AS v CROSS JOIN episode AS e ON e.n = v.episode
WHERE v.entity IN (SELECT value FROM json_each(:ids)) AND v.grp IN (SELECT value FROM json_each(:grps))
    AND v.created_at <= :system AND v.expired_at > :system
ORDER BY e.reference_time DESC, e.id, v.mention, v.entity LIMIT :limit

-- name: mentions_by_both
-- Mentions of these canonical entities in these episodes.
-- params: ids, episodes, grps, system, limit
-- returns: the columns of a mention, its canonical entity, created_at, expired_at
SELECT e.id, m.position, m.entity, m.name, m.type, m.span_start, m.span_end, m.attributes, v.entity, v.created_at, v.expired_at
FROM episode AS e CROSS JOIN mention_version AS v ON v.episode = e.n CROSS JOIN mention AS m ON m.n = v.mention
WHERE e.id IN (SELECT value FROM json_each(:episodes)) AND +v.entity IN (SELECT value FROM json_each(:ids))
    AND v.grp IN (SELECT value FROM json_each(:grps)) AND v.created_at <= :system AND v.expired_at > :system
ORDER BY e.reference_time DESC, e.id, m.position, v.entity LIMIT :limit

-- name: episodes_in_order
-- Visible episodes of one group, oldest first; read lazily.
-- params: grp, system, first, last, bodies
-- returns: the columns of an episode, its body if asked
SELECT e.n, e.id, e.grp, e.seq, e.key, e.kind, e.reference_time, e.created_at, e.actor, e.session, e.source, e.zone, e.attributes,
    CASE WHEN :bodies THEN e.body ELSE '' END
FROM episode AS e INDEXED BY episode_by_time
WHERE e.grp = :grp AND e.reference_time >= :first AND e.reference_time < :last
    AND EXISTS (SELECT 1 FROM visible AS v WHERE v.episode = e.n AND v.created_at <= :system AND v.expired_at > :system)
ORDER BY e.reference_time, e.seq, e.id

-- name: episodes_newest_first
-- Visible episodes of one group, newest first; read lazily.
-- params: grp, system, first, last, bodies
-- returns: the columns of an episode, its body if asked
SELECT e.n, e.id, e.grp, e.seq, e.key, e.kind, e.reference_time, e.created_at, e.actor, e.session, e.source, e.zone, e.attributes,
    CASE WHEN :bodies THEN e.body ELSE '' END
FROM episode AS e INDEXED BY episode_by_time
WHERE e.grp = :grp AND e.reference_time >= :first AND e.reference_time < :last
    AND EXISTS (SELECT 1 FROM visible AS v WHERE v.episode = e.n AND v.created_at <= :system AND v.expired_at > :system)
ORDER BY e.reference_time DESC, e.seq DESC, e.id DESC

-- name: episodes_by_id
-- Visible episodes by id.
-- params: ids, grps, system, bodies
-- returns: the columns of an episode, its body if asked
SELECT e.n, e.id, e.grp, e.seq, e.key, e.kind, e.reference_time, e.created_at, e.actor, e.session, e.source, e.zone, e.attributes,
    CASE WHEN :bodies THEN e.body ELSE '' END
FROM episode AS e
WHERE e.id IN (SELECT value FROM json_each(:ids)) AND +e.grp IN (SELECT value FROM json_each(:grps))
    AND EXISTS (SELECT 1 FROM visible AS v WHERE v.episode = e.n AND v.created_at <= :system AND v.expired_at > :system)
ORDER BY e.reference_time, e.seq, e.id

-- name: episodes_by_session
-- Visible episodes of these sessions.
-- params: ids, grps, system, bodies
-- returns: the columns of an episode, its body if asked
SELECT e.n, e.id, e.grp, e.seq, e.key, e.kind, e.reference_time, e.created_at, e.actor, e.session, e.source, e.zone, e.attributes,
    CASE WHEN :bodies THEN e.body ELSE '' END
FROM episode AS e
WHERE e.session IN (SELECT value FROM json_each(:ids)) AND +e.grp IN (SELECT value FROM json_each(:grps))
    AND EXISTS (SELECT 1 FROM visible AS v WHERE v.episode = e.n AND v.created_at <= :system AND v.expired_at > :system)
ORDER BY e.reference_time, e.seq, e.id

-- name: episodes_by_key
-- Visible episodes by idempotency key.
-- params: ids, grps, system, bodies
-- returns: the columns of an episode, its body if asked
SELECT e.n, e.id, e.grp, e.seq, e.key, e.kind, e.reference_time, e.created_at, e.actor, e.session, e.source, e.zone, e.attributes,
    CASE WHEN :bodies THEN e.body ELSE '' END
FROM episode AS e
WHERE e.grp IN (SELECT value FROM json_each(:grps)) AND e.key IN (SELECT value FROM json_each(:ids))
    AND EXISTS (SELECT 1 FROM visible AS v WHERE v.episode = e.n AND v.created_at <= :system AND v.expired_at > :system)
ORDER BY e.reference_time, e.seq, e.id

-- name: episodes_by_entity
-- Visible episodes that mention one of these canonical entities.
-- params: ids, grps, system, bodies
-- returns: the columns of an episode, its body if asked
SELECT e.n, e.id, e.grp, e.seq, e.key, e.kind, e.reference_time, e.created_at, e.actor, e.session, e.source, e.zone, e.attributes,
    CASE WHEN :bodies THEN e.body ELSE '' END
FROM episode AS e
WHERE e.n IN (
        SELECT m.episode FROM mention_version AS m
        WHERE m.entity IN (SELECT value FROM json_each(:ids)) AND m.created_at <= :system AND m.expired_at > :system)
    AND +e.grp IN (SELECT value FROM json_each(:grps))
    AND EXISTS (SELECT 1 FROM visible AS v WHERE v.episode = e.n AND v.created_at <= :system AND v.expired_at > :system)
ORDER BY e.reference_time, e.seq, e.id

-- name: episodes_around
-- Of visible episodes, the visible ones just before and after in their session.
-- params: ids, grps, system
-- returns: id, id before, id after
SELECT e.id,
    (SELECT p.id FROM episode AS p INDEXED BY episode_by_session
        WHERE p.session = e.session AND p.grp = e.grp AND (p.reference_time, p.seq) < (e.reference_time, e.seq)
            AND EXISTS (SELECT 1 FROM visible AS v WHERE v.episode = p.n AND v.created_at <= :system AND v.expired_at > :system)
        ORDER BY p.reference_time DESC, p.seq DESC LIMIT 1),
    (SELECT p.id FROM episode AS p INDEXED BY episode_by_session
        WHERE p.session = e.session AND p.grp = e.grp AND (p.reference_time, p.seq) > (e.reference_time, e.seq)
            AND EXISTS (SELECT 1 FROM visible AS v WHERE v.episode = p.n AND v.created_at <= :system AND v.expired_at > :system)
        ORDER BY p.reference_time, p.seq LIMIT 1)
FROM episode AS e
WHERE e.id IN (SELECT value FROM json_each(:ids)) AND +e.grp IN (SELECT value FROM json_each(:grps)) AND e.session IS NOT NULL
    AND EXISTS (SELECT 1 FROM visible AS v WHERE v.episode = e.n AND v.created_at <= :system AND v.expired_at > :system)

-- name: counts
-- How many rows pass.
-- params: grps, system, valid_lo, valid_hi
-- returns: episodes, entities, facts, mentions
SELECT
    (SELECT count(*) FROM visible
        WHERE grp IN (SELECT value FROM json_each(:grps)) AND created_at <= :system AND expired_at > :system),
    (SELECT count(*) FROM entity_version
        WHERE grp IN (SELECT value FROM json_each(:grps)) AND created_at <= :system AND expired_at > :system),
    (SELECT count(*) FROM fact
        WHERE grp IN (SELECT value FROM json_each(:grps)) AND created_at <= :system AND expired_at > :system
            AND valid_at <= :valid_hi AND invalid_at > :valid_lo),
    (SELECT count(*) FROM mention_version
        WHERE grp IN (SELECT value FROM json_each(:grps)) AND created_at <= :system AND expired_at > :system)

-- name: edges_of
-- Of every entity given, its newest edges that pass, `cap` in each direction; forward 1 when it is the source.
-- params: ids, grps, system, valid_lo, valid_hi, cap
-- returns: entity, forward, valid_at, uuid, entity at the other end, fact row
SELECT s.value, 1, f.valid_at, f.uuid, f.target, f.n
FROM json_each(:ids) AS s CROSS JOIN fact AS f
WHERE f.n IN (
    SELECT i.n FROM fact AS i INDEXED BY fact_by_source
    WHERE i.source = s.value AND i.valid_at <= :valid_hi AND i.expired_at > :system AND i.created_at <= :system
        AND i.invalid_at > :valid_lo AND i.grp IN (SELECT value FROM json_each(:grps))
    ORDER BY i.valid_at DESC, i.uuid LIMIT :cap)
UNION ALL
SELECT s.value, 0, f.valid_at, f.uuid, f.source, f.n
FROM json_each(:ids) AS s CROSS JOIN fact AS f
WHERE f.n IN (
    SELECT i.n FROM fact AS i INDEXED BY fact_by_target
    WHERE i.target = s.value AND i.valid_at <= :valid_hi AND i.expired_at > :system AND i.created_at <= :system
        AND i.invalid_at > :valid_lo AND i.grp IN (SELECT value FROM json_each(:grps))
    ORDER BY i.valid_at DESC, i.uuid LIMIT :cap)
