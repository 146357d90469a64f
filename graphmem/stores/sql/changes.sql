-- name: facts_changed
-- Fact versions that began or ended to be believed in a stretch; 4611686018427387904 is an open end.
-- params: grp, since, until, entities, fact_ids, relations
-- returns: the columns of a fact version
SELECT n, uuid, fact_id, grp, relation, source, target, text, valid_at, invalid_at, created_at, expired_at, start_precision, start_origin,
    end_precision, end_origin, attributes
FROM fact
WHERE n IN (
        SELECT f.n FROM fact AS f WHERE f.grp = :grp AND f.created_at > :since AND f.created_at <= :until
        UNION ALL
        SELECT f.n FROM fact AS f
        WHERE f.grp = :grp AND f.expired_at > :since AND f.expired_at <= :until AND f.expired_at < 4611686018427387904)
    AND (:entities IS NULL OR source IN (SELECT value FROM json_each(:entities)) OR target IN (SELECT value FROM json_each(:entities)))
    AND (:fact_ids IS NULL OR +fact_id IN (SELECT value FROM json_each(:fact_ids)))
    AND (:relations IS NULL OR +relation IN (SELECT value FROM json_each(:relations)))
ORDER BY created_at, uuid

-- name: facts_changed_by_entity
-- Fact versions with one of these entities at either end that began or ended to be believed in a stretch.
-- params: grp, since, until, entities, fact_ids, relations
-- returns: the columns of a fact version
SELECT n, uuid, fact_id, grp, relation, source, target, text, valid_at, invalid_at, created_at, expired_at, start_precision, start_origin,
    end_precision, end_origin, attributes
FROM fact
WHERE n IN (
        SELECT f.n FROM fact AS f WHERE f.source IN (SELECT value FROM json_each(:entities))
        UNION ALL
        SELECT f.n FROM fact AS f WHERE f.target IN (SELECT value FROM json_each(:entities)))
    AND +grp = :grp AND ((created_at > :since AND created_at <= :until)
        OR (expired_at > :since AND expired_at <= :until AND expired_at < 4611686018427387904))
    AND (:fact_ids IS NULL OR +fact_id IN (SELECT value FROM json_each(:fact_ids)))
    AND (:relations IS NULL OR +relation IN (SELECT value FROM json_each(:relations)))
ORDER BY created_at, uuid

-- name: facts_changed_by_fact
-- Versions of these facts that began or ended to be believed in a stretch.
-- params: grp, since, until, entities, fact_ids, relations
-- returns: the columns of a fact version
SELECT n, uuid, fact_id, grp, relation, source, target, text, valid_at, invalid_at, created_at, expired_at, start_precision, start_origin,
    end_precision, end_origin, attributes
FROM fact
WHERE fact_id IN (SELECT value FROM json_each(:fact_ids))
    AND +grp = :grp AND ((created_at > :since AND created_at <= :until)
        OR (expired_at > :since AND expired_at <= :until AND expired_at < 4611686018427387904))
    AND (:entities IS NULL OR +source IN (SELECT value FROM json_each(:entities)) OR +target IN (SELECT value FROM json_each(:entities)))
    AND (:relations IS NULL OR +relation IN (SELECT value FROM json_each(:relations)))
ORDER BY created_at, uuid

-- name: facts_turning
-- Fact versions believed whose valid time starts or ends in a stretch.
-- params: grp, system, since, until, entities, relations
-- returns: the columns of a fact version
SELECT n, uuid, fact_id, grp, relation, source, target, text, valid_at, invalid_at, created_at, expired_at, start_precision, start_origin,
    end_precision, end_origin, attributes
FROM fact
WHERE n IN (
        SELECT f.n FROM fact AS f WHERE f.grp = :grp AND f.valid_at > :since AND f.valid_at <= :until
        UNION ALL
        SELECT f.n FROM fact AS f
        WHERE f.grp = :grp AND f.invalid_at > :since AND f.invalid_at <= :until AND f.invalid_at < 4611686018427387904)
    AND created_at <= :system AND expired_at > :system
    AND (:entities IS NULL OR source IN (SELECT value FROM json_each(:entities)) OR target IN (SELECT value FROM json_each(:entities)))
    AND (:relations IS NULL OR +relation IN (SELECT value FROM json_each(:relations)))
ORDER BY valid_at, created_at, uuid

-- name: citations_changed
-- Citations that began or ended to be believed in a stretch.
-- params: grp, since, until
-- returns: fact_id, valid_at, episode, author, created_at, expired_at
SELECT fact_id, valid_at, episode, author, created_at, expired_at FROM citation
WHERE n IN (
        SELECT c.n FROM citation AS c WHERE c.grp = :grp AND c.created_at > :since AND c.created_at <= :until
        UNION ALL
        SELECT c.n FROM citation AS c
        WHERE c.grp = :grp AND c.expired_at > :since AND c.expired_at <= :until AND c.expired_at < 4611686018427387904)
ORDER BY fact_id, valid_at, episode, author, created_at

-- name: citations_changed_by_fact
-- Citations of these facts that began or ended to be believed in a stretch.
-- params: grp, since, until, ids
-- returns: fact_id, valid_at, episode, author, created_at, expired_at
SELECT fact_id, valid_at, episode, author, created_at, expired_at FROM citation
WHERE fact_id IN (SELECT value FROM json_each(:ids)) AND +grp = :grp AND ((created_at > :since AND created_at <= :until)
    OR (expired_at > :since AND expired_at <= :until AND expired_at < 4611686018427387904))
ORDER BY fact_id, valid_at, episode, author, created_at

-- name: entities_changed
-- Entity versions that began or ended to be believed in a stretch.
-- params: grp, since, until
-- returns: the columns of an entity version
SELECT n, uuid, id, grp, name, type, aliases, attributes, created_at, expired_at FROM entity_version
WHERE n IN (
        SELECT v.n FROM entity_version AS v WHERE v.grp = :grp AND v.created_at > :since AND v.created_at <= :until
        UNION ALL
        SELECT v.n FROM entity_version AS v
        WHERE v.grp = :grp AND v.expired_at > :since AND v.expired_at <= :until AND v.expired_at < 4611686018427387904)
ORDER BY id, created_at

-- name: entities_changed_by_id
-- Versions of these entities that began or ended to be believed in a stretch.
-- params: grp, since, until, ids
-- returns: the columns of an entity version
SELECT n, uuid, id, grp, name, type, aliases, attributes, created_at, expired_at FROM entity_version
WHERE id IN (SELECT value FROM json_each(:ids)) AND +grp = :grp AND ((created_at > :since AND created_at <= :until)
    OR (expired_at > :since AND expired_at <= :until AND expired_at < 4611686018427387904))
ORDER BY id, created_at

-- name: episodes_written
-- Episodes that were written at these instants.
-- params: grp, instants
-- returns: id
SELECT id FROM episode WHERE grp = :grp AND created_at IN (SELECT value FROM json_each(:instants)) ORDER BY +seq

-- name: operations_written
-- Operations that were written at these instants.
-- params: grp, instants
-- returns: the columns of an operation
SELECT id, kind, targets, arguments, seq, created_at, author, reason, digest FROM operation
WHERE grp = :grp AND created_at IN (SELECT value FROM json_each(:instants)) ORDER BY +seq
