-- name: check_file
-- Whether the file's pages and indexes are sound.
-- returns: "ok", or what is wrong
PRAGMA integrity_check (20)

-- name: check_word_index
-- Fails when the word index is damaged.
INSERT INTO word_index (word_index) VALUES ('integrity-check')

-- name: words_without_owner
-- Words of something that does not exist.
-- returns: kind, owner
SELECT w.kind, w.owner FROM words AS w
WHERE NOT EXISTS (SELECT 1 FROM fact AS o WHERE w.kind = 'fact' AND o.n = w.owner)
    AND NOT EXISTS (SELECT 1 FROM entity AS o WHERE w.kind = 'entity' AND o.n = w.owner)
    AND NOT EXISTS (SELECT 1 FROM episode AS o WHERE w.kind = 'episode' AND o.n = w.owner)
    AND NOT EXISTS (SELECT 1 FROM community AS o WHERE w.kind = 'community' AND o.n = w.owner)

-- name: vectors_without_owner
-- Vectors of something that does not exist.
-- returns: kind, owner
SELECT DISTINCT w.kind, w.owner FROM vector AS w
WHERE NOT EXISTS (SELECT 1 FROM fact AS o WHERE w.kind = 'fact' AND o.n = w.owner)
    AND NOT EXISTS (SELECT 1 FROM entity AS o WHERE w.kind = 'entity' AND o.n = w.owner)
    AND NOT EXISTS (SELECT 1 FROM episode AS o WHERE w.kind = 'episode' AND o.n = w.owner)
    AND NOT EXISTS (SELECT 1 FROM community AS o WHERE w.kind = 'community' AND o.n = w.owner)

-- name: vectors_without_copy
-- Vectors that lack their exact copy.
-- returns: kind, owner
SELECT v.kind, v.owner FROM vector AS v WHERE NOT EXISTS (SELECT 1 FROM vector_exact AS x WHERE x.n = v.n)

-- name: staged_without_vectors
-- Staged vectors of something that has none in use.
-- returns: kind, owner
SELECT DISTINCT s.kind, s.owner FROM staged_vector AS s
WHERE NOT EXISTS (SELECT 1 FROM vector AS v WHERE v.kind = s.kind AND v.owner = s.owner)

-- name: items_without_words
-- Fact versions, entities and visible episodes that no search by words can find.
-- returns: kind, id
SELECT 'fact', uuid FROM fact AS o WHERE NOT EXISTS (SELECT 1 FROM words AS w WHERE w.kind = 'fact' AND w.owner = o.n)
UNION ALL
SELECT 'entity', id FROM entity AS o WHERE NOT EXISTS (SELECT 1 FROM words AS w WHERE w.kind = 'entity' AND w.owner = o.n)

-- name: indexed_words
-- How many rows of words there are, and how many words.
-- returns: rows, words
SELECT count(*), coalesce(sum(length), 0) FROM words

-- name: indexed_places
-- How many words the index holds.
-- returns: words
SELECT count(*) FROM word_place

-- name: citations_without_ends
-- Citations of a fact or an episode that does not exist.
-- returns: fact_id, episode
SELECT c.fact_id, c.episode FROM citation AS c
WHERE NOT EXISTS (SELECT 1 FROM fact AS f WHERE f.fact_id = c.fact_id) OR NOT EXISTS (SELECT 1 FROM episode AS e WHERE e.id = c.episode)

-- name: mentions_without_rows
-- Mention versions whose mention or episode does not exist.
-- returns: n, entity
SELECT v.n, v.entity FROM mention_version AS v
WHERE NOT EXISTS (SELECT 1 FROM mention AS m WHERE m.n = v.mention AND m.episode = v.episode)
    OR NOT EXISTS (SELECT 1 FROM episode AS e WHERE e.n = v.episode)

-- name: keys_without_assertion
-- Key rows of an assertion that is not in the log.
-- returns: assertion
SELECT k.assertion FROM fact_key AS k WHERE NOT EXISTS (SELECT 1 FROM assertion AS a WHERE a.id = k.assertion)

-- name: overlapping_entities
-- Entities with two versions believed at one instant.
-- returns: id
SELECT DISTINCT a.id FROM entity_version AS a JOIN entity_version AS b
    ON b.id = a.id AND b.n > a.n AND a.created_at < b.expired_at AND b.created_at < a.expired_at

-- name: overlapping_facts
-- Facts with two versions of one valid start believed at one instant.
-- returns: fact_id
SELECT DISTINCT a.fact_id FROM fact AS a JOIN fact AS b
    ON b.fact_id = a.fact_id AND b.n > a.n AND a.valid_at = b.valid_at AND a.created_at < b.expired_at AND b.created_at < a.expired_at

-- name: overlapping_visible
-- Episodes with two visible intervals that overlap.
-- returns: id
SELECT DISTINCT e.id FROM visible AS a
JOIN visible AS b ON b.episode = a.episode AND b.n > a.n AND a.created_at < b.expired_at AND b.created_at < a.expired_at
JOIN episode AS e ON e.n = a.episode
