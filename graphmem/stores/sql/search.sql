-- name: state
-- The number of the last commit and of the last one that removed rows.
-- returns: change, epoch
SELECT change, epoch FROM state WHERE id = 1

-- name: fact_spans
-- When fact versions hold and are believed: those touched after a commit.
-- params: change
-- returns: n, owner, grp, created_at, expired_at, valid_at, invalid_at
SELECT n, n, grp, created_at, expired_at, valid_at, invalid_at FROM fact INDEXED BY fact_changed WHERE changed > :change

-- name: entity_spans
-- When entities are believed: versions touched after a commit; they hold at every valid time.
-- params: change, open_start, open_end
-- returns: n, owner, grp, created_at, expired_at, valid_at, invalid_at
SELECT n, entity, grp, created_at, expired_at, :open_start, :open_end FROM entity_version INDEXED BY entity_version_changed WHERE changed > :change

-- name: episode_spans
-- When episodes are visible: intervals touched after a commit; they hold at every valid time.
-- params: change, open_start, open_end
-- returns: n, owner, grp, created_at, expired_at, valid_at, invalid_at
SELECT n, episode, grp, created_at, expired_at, :open_start, :open_end FROM visible INDEXED BY visible_changed WHERE changed > :change

-- name: community_spans
-- When versions of communities are believed: those touched after a commit; they hold at every valid time.
-- params: change, open_start, open_end
-- returns: n, owner, grp, created_at, expired_at, valid_at, invalid_at
SELECT n, n, grp, created_at, expired_at, :open_start, :open_end FROM community INDEXED BY community_changed WHERE changed > :change

-- name: word_lengths
-- Owner and length of words after a row number.
-- params: after
-- returns: n, kind, owner, length
SELECT n, kind, owner, length FROM words WHERE n > :after ORDER BY n

-- name: word_texts
-- Words after a row number.
-- params: after
-- returns: n, text
SELECT n, text FROM words WHERE n > :after ORDER BY n

-- name: word_rows
-- A term's occurrences as one list of row numbers.
-- params: term
-- returns: comma separated row numbers
SELECT group_concat(doc) FROM word_place WHERE term = :term

-- name: words_of
-- Words of owners by row number.
-- params: kind, rows
-- returns: n, owner, text
SELECT n, owner, text FROM words WHERE kind = :kind AND owner IN (SELECT value FROM json_each(:rows))

-- name: rough_vectors
-- Vectors as they are scanned, after a row number, so many of them.
-- params: after, count
-- returns: n, kind, owner, piece, scale, rough
SELECT n, kind, owner, piece, scale, rough FROM vector WHERE n > :after ORDER BY n LIMIT :count

-- name: exact_vectors
-- Exact copies of vectors by row number.
-- params: rows
-- returns: n, halves
SELECT n, halves FROM vector_exact WHERE n IN (SELECT value FROM json_each(:rows)) ORDER BY n

-- name: vectors_of
-- Exact vectors of owners by row number.
-- params: kind, rows
-- returns: owner, piece, halves
SELECT v.owner, v.piece, x.halves FROM vector AS v JOIN vector_exact AS x ON x.n = v.n
WHERE v.kind = :kind AND v.owner IN (SELECT value FROM json_each(:rows)) ORDER BY v.owner, v.piece

-- name: vector_owners
-- Owners of vectors in a group that have staged ones too (1), or have not (0).
-- params: grp, staged
-- returns: kind, id
SELECT 'fact' AS kind, o.uuid AS id FROM fact AS o
WHERE o.grp = :grp AND EXISTS (SELECT 1 FROM vector AS v WHERE v.kind = 'fact' AND v.owner = o.n)
    AND EXISTS (SELECT 1 FROM staged_vector AS s WHERE s.kind = 'fact' AND s.owner = o.n) = :staged
UNION ALL
SELECT 'entity', o.id FROM entity AS o
WHERE o.grp = :grp AND EXISTS (SELECT 1 FROM vector AS v WHERE v.kind = 'entity' AND v.owner = o.n)
    AND EXISTS (SELECT 1 FROM staged_vector AS s WHERE s.kind = 'entity' AND s.owner = o.n) = :staged
UNION ALL
SELECT 'episode', o.id FROM episode AS o
WHERE o.grp = :grp AND EXISTS (SELECT 1 FROM vector AS v WHERE v.kind = 'episode' AND v.owner = o.n)
    AND EXISTS (SELECT 1 FROM staged_vector AS s WHERE s.kind = 'episode' AND s.owner = o.n) = :staged
UNION ALL
SELECT 'community', o.uuid FROM community AS o
WHERE o.grp = :grp AND EXISTS (SELECT 1 FROM vector AS v WHERE v.kind = 'community' AND v.owner = o.n)
    AND EXISTS (SELECT 1 FROM staged_vector AS s WHERE s.kind = 'community' AND s.owner = o.n) = :staged
ORDER BY kind, id

-- name: sources
-- The episodes that fact versions cite, by uuid.
-- params: ids, grps, system
-- returns: uuid, episode
SELECT DISTINCT f.uuid, c.episode FROM fact AS f CROSS JOIN citation AS c ON c.fact_id = f.fact_id AND c.valid_at = f.valid_at
WHERE f.uuid IN (SELECT value FROM json_each(:ids)) AND c.grp IN (SELECT value FROM json_each(:grps))
    AND c.created_at <= :system AND c.expired_at > :system
ORDER BY f.uuid, c.episode

-- name: ids_fact
-- Uuids of fact versions by row number.
-- params: rows
-- returns: n, uuid
SELECT n, uuid FROM fact WHERE n IN (SELECT value FROM json_each(:rows))

-- name: ids_entity
-- Ids of entities by row number.
-- params: rows
-- returns: n, id
SELECT n, id FROM entity WHERE n IN (SELECT value FROM json_each(:rows))

-- name: ids_episode
-- Ids of episodes by row number.
-- params: rows
-- returns: n, id
SELECT n, id FROM episode WHERE n IN (SELECT value FROM json_each(:rows))

-- name: ids_community
-- Uuids of versions of communities by row number.
-- params: rows
-- returns: n, uuid
SELECT n, uuid FROM community WHERE n IN (SELECT value FROM json_each(:rows))

-- name: episode_places
-- Where episodes stand in their sessions, after a row number.
-- params: after
-- returns: n, grp, session, reference_time, seq
SELECT n, grp, session, reference_time, seq FROM episode WHERE n > :after ORDER BY n

-- name: facts_by_row
-- Fact versions by row number, in no order.
-- params: rows
-- returns: the columns of a fact version
SELECT n, uuid, fact_id, grp, relation, source, target, text, valid_at, invalid_at, created_at, expired_at, start_precision, start_origin,
    end_precision, end_origin, attributes
FROM fact WHERE n IN (SELECT value FROM json_each(:rows))

-- name: claims_by_row
-- What ranking asks of fact versions, by row number, in no order.
-- params: rows
-- returns: n, relation, source, target, text, valid_at, invalid_at
SELECT n, relation, source, target, text, valid_at, invalid_at FROM fact WHERE n IN (SELECT value FROM json_each(:rows))

-- name: turns_by_row
-- What ranking asks of episodes, by row number, in no order.
-- params: rows
-- returns: n, grp, session, actor, zone, reference_time, body
SELECT n, grp, session, actor, zone, reference_time, body FROM episode WHERE n IN (SELECT value FROM json_each(:rows))

-- name: episodes_by_row
-- Episodes by row number.
-- params: rows, bodies
-- returns: the columns of an episode, its body if asked
SELECT n, id, grp, seq, key, kind, reference_time, created_at, actor, session, source, zone, attributes, CASE WHEN :bodies THEN body ELSE '' END
FROM episode WHERE n IN (SELECT value FROM json_each(:rows))
ORDER BY reference_time, seq, id

-- name: sources_by_row
-- The episodes that fact versions cite, by row number, in no order; one that is cited twice stands there twice.
-- params: rows, grps, system
-- returns: n, episode
SELECT f.n, c.episode FROM fact AS f CROSS JOIN citation AS c ON c.fact_id = f.fact_id AND c.valid_at = f.valid_at
WHERE f.n IN (SELECT value FROM json_each(:rows)) AND c.grp IN (SELECT value FROM json_each(:grps))
    AND c.created_at <= :system AND c.expired_at > :system

-- name: fact_labels
-- What filters ask of fact versions, after a row number; `period` is what citations name.
-- params: after
-- returns: n, relation, source, target, period, attributes or NULL
SELECT n, relation, source, target, fact_id || ' ' || valid_at, nullif(attributes, '{}') FROM fact WHERE n > :after ORDER BY n

-- name: entity_labels
-- What filters ask of entity versions, after a row number.
-- params: after
-- returns: n, owner, id, type, attributes or NULL
SELECT n, entity, id, type, nullif(attributes, '{}') FROM entity_version WHERE n > :after ORDER BY n

-- name: episode_labels
-- What filters ask of episodes, after a row number.
-- params: after
-- returns: n, reference_time, id, session, actor, source, attributes or NULL
SELECT n, reference_time, id, session, actor, source, nullif(attributes, '{}') FROM episode WHERE n > :after ORDER BY n

-- name: citation_labels
-- Which periods of facts cite which episodes, ended citations too, after a row number.
-- params: after
-- returns: n, period, episode
SELECT n, fact_id || ' ' || valid_at, episode FROM citation WHERE n > :after ORDER BY n

-- name: mention_rows
-- Mentions of these canonical entities as row numbers.
-- params: ids, grps, system
-- returns: episode row, canonical entity, mention row
SELECT episode, entity, mention FROM mention_version
WHERE entity IN (SELECT value FROM json_each(:ids)) AND grp IN (SELECT value FROM json_each(:grps))
    AND created_at <= :system AND expired_at > :system
