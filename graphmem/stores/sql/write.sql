-- name: last_row
-- The row number of the row that this connection inserted last.
-- returns: n
SELECT last_insert_rowid()

-- name: add_group
-- Make a group known.
-- params: name
INSERT INTO grp (name, seq, at) VALUES (:name, 0, NULL) ON CONFLICT (name) DO NOTHING

-- name: advance_head
-- Move the end of a group's log.
-- params: grp, seq, at
UPDATE grp SET seq = max(seq, :seq), at = CASE WHEN at IS NULL OR :at > at THEN coalesce(:at, at) ELSE at END WHERE n = :grp

-- name: advance_change
-- Count a commit.
UPDATE state SET change = change + 1 WHERE id = 1

-- name: advance_epoch
-- Tell caches that rows were removed.
UPDATE state SET epoch = epoch + 1 WHERE id = 1

-- name: add_episode
-- Append an episode to the log.
-- params: id, grp, seq, key, kind, reference_time, created_at, actor, session, source, zone, attributes, search_text, body, digest
INSERT INTO episode (id, grp, seq, key, kind, reference_time, created_at, actor, session, source, zone, attributes, search_text, body,
    digest)
VALUES (:id, :grp, :seq, :key, :kind, :reference_time, :created_at, :actor, :session, :source, :zone, :attributes, :search_text, :body,
    :digest)

-- name: add_assertion
-- Append an assertion of the episode of this row number.
-- params: id, episode, position, source, relation, target, text, kind, start_unit, end_unit, still, same_as, excludes, span_start, span_end, attributes
INSERT INTO assertion (id, episode, position, source, relation, target, text, kind, start_unit, end_unit, still, same_as, excludes,
    span_start, span_end, attributes)
VALUES (:id, :episode, :position, :source, :relation, :target, :text, :kind, :start_unit, :end_unit, :still, :same_as, :excludes,
    :span_start, :span_end, :attributes)

-- name: add_decision
-- Index an assertion by one it names.
-- params: named, id
INSERT OR IGNORE INTO decision (named, assertion) SELECT :named, n FROM assertion WHERE id = :id

-- name: add_mention
-- Append a mention of the episode of this row number.
-- params: episode, position, entity, name, type, span_start, span_end, attributes
INSERT INTO mention (episode, position, entity, name, type, span_start, span_end, attributes)
VALUES (:episode, :position, :entity, :name, :type, :span_start, :span_end, :attributes)

-- name: add_link
-- Append a link of the episode of this row number.
-- params: episode, position, one, other
INSERT INTO link (episode, position, one, other) VALUES (:episode, :position, :one, :other)

-- name: add_operation
-- Append an operation to the log.
-- params: id, grp, seq, kind, targets, arguments, created_at, author, reason, digest
INSERT INTO operation (id, grp, seq, kind, targets, arguments, created_at, author, reason, digest)
VALUES (:id, :grp, :seq, :kind, :targets, :arguments, :created_at, :author, :reason, :digest)

-- name: add_operation_target
-- Index an operation by what it acts on.
-- params: target, operation
INSERT OR IGNORE INTO operation_target (target, operation) VALUES (:target, :operation)

-- name: set_key
-- Say which fact an assertion speaks of now.
-- params: assertion, grp, fact_id, relation, source, target, variant
INSERT INTO fact_key (assertion, grp, fact_id, relation, source, target, variant)
VALUES (:assertion, :grp, :fact_id, :relation, :source, :target, :variant)
ON CONFLICT (assertion) DO UPDATE SET grp = excluded.grp, fact_id = excluded.fact_id, relation = excluded.relation,
    source = excluded.source, target = excluded.target, variant = excluded.variant

-- name: add_fact
-- Insert a fact version.
-- params: uuid, fact_id, grp, relation, source, target, text, valid_at, invalid_at, created_at, expired_at, start_precision, start_origin, end_precision, end_origin, attributes, changed
INSERT INTO fact (uuid, fact_id, grp, relation, source, target, text, valid_at, invalid_at, created_at, expired_at, start_precision,
    start_origin, end_precision, end_origin, attributes, changed)
VALUES (:uuid, :fact_id, :grp, :relation, :source, :target, :text, :valid_at, :invalid_at, :created_at, :expired_at, :start_precision,
    :start_origin, :end_precision, :end_origin, :attributes, :changed)

-- name: end_facts
-- Close open fact versions.
-- params: ids, at, open_end, changed
UPDATE fact SET expired_at = :at, changed = :changed WHERE uuid IN (SELECT value FROM json_each(:ids)) AND expired_at = :open_end

-- name: unborn_facts
-- Of these fact versions, those of which nothing is left.
-- params: ids
-- returns: n, uuid
SELECT n, uuid FROM fact WHERE uuid IN (SELECT value FROM json_each(:ids)) AND created_at >= expired_at

-- name: drop_facts
-- Remove fact versions by row number.
-- params: rows
DELETE FROM fact WHERE n IN (SELECT value FROM json_each(:rows))

-- name: add_entity
-- Give an entity id its row number.
-- params: id, grp
INSERT INTO entity (id, grp) VALUES (:id, :grp)

-- name: add_entity_version
-- Insert a version of the entity of this row number.
-- params: uuid, entity, id, grp, name, name_key, type, aliases, attributes, created_at, expired_at, changed
INSERT INTO entity_version (uuid, entity, id, grp, name, name_key, type, aliases, attributes, created_at, expired_at, changed)
VALUES (:uuid, :entity, :id, :grp, :name, :name_key, :type, :aliases, :attributes, :created_at, :expired_at, :changed)

-- name: add_entity_name
-- Index an entity version, by its row number, by the key of one of its names.
-- params: key, version
INSERT OR IGNORE INTO entity_name (key, version) VALUES (:key, :version)

-- name: end_entities
-- Close open entity versions.
-- params: ids, at, open_end, changed
UPDATE entity_version SET expired_at = :at, changed = :changed
WHERE uuid IN (SELECT value FROM json_each(:ids)) AND expired_at = :open_end

-- name: unborn_entities
-- Of these entity versions, those of which nothing is left.
-- params: ids
-- returns: n, uuid
SELECT n, uuid FROM entity_version WHERE uuid IN (SELECT value FROM json_each(:ids)) AND created_at >= expired_at

-- name: drop_entity_names
-- Remove the names of entity versions by row number.
-- params: rows
DELETE FROM entity_name WHERE version IN (SELECT value FROM json_each(:rows))

-- name: drop_entities
-- Remove entity versions by row number.
-- params: rows
DELETE FROM entity_version WHERE n IN (SELECT value FROM json_each(:rows))

-- name: add_citation
-- Open a citation.
-- params: grp, fact_id, valid_at, episode, author, created_at, expired_at
INSERT INTO citation (grp, fact_id, valid_at, episode, author, created_at, expired_at)
VALUES (:grp, :fact_id, :valid_at, :episode, :author, :created_at, :expired_at)

-- name: end_citation
-- Close an open citation.
-- params: grp, fact_id, valid_at, episode, author, at, open_end
UPDATE citation SET expired_at = :at
WHERE fact_id = :fact_id AND valid_at = :valid_at AND episode = :episode AND author = :author AND grp = :grp AND expired_at = :open_end

-- name: drop_unborn_citations
-- Remove citations of these facts of which nothing is left.
-- params: ids
DELETE FROM citation WHERE fact_id IN (SELECT value FROM json_each(:ids)) AND created_at >= expired_at

-- name: add_mention_version
-- Open a mention under its canonical entity.
-- params: grp, episode, position, entity, created_at, expired_at
INSERT INTO mention_version (grp, mention, episode, entity, created_at, expired_at)
SELECT :grp, m.n, m.episode, :entity, :created_at, :expired_at
FROM episode AS e JOIN mention AS m ON m.episode = e.n AND m.position = :position WHERE e.id = :episode

-- name: end_mention_version
-- Close an open mention.
-- params: episode, position, entity, at, open_end
UPDATE mention_version SET expired_at = :at
WHERE mention = (SELECT m.n FROM episode AS e JOIN mention AS m ON m.episode = e.n AND m.position = :position WHERE e.id = :episode)
    AND entity = :entity AND expired_at = :open_end

-- name: drop_unborn_mentions
-- Remove mention versions of these episodes of which nothing is left.
-- params: ids
DELETE FROM mention_version
WHERE episode IN (SELECT n FROM episode WHERE id IN (SELECT value FROM json_each(:ids))) AND created_at >= expired_at

-- name: show_episode
-- Open the visible interval of an episode that is not visible.
-- params: episode, grp, created_at, open_end, changed
INSERT INTO visible (episode, grp, created_at, expired_at, changed)
SELECT n, grp, :created_at, :open_end, :changed FROM episode
WHERE id = :episode AND grp = :grp AND NOT EXISTS (SELECT 1 FROM visible AS v WHERE v.episode = episode.n AND v.expired_at = :open_end)

-- name: hide_episodes
-- Close the visible intervals of episodes.
-- params: ids, grp, at, open_end, changed
UPDATE visible SET expired_at = :at, changed = :changed
WHERE episode IN (SELECT n FROM episode WHERE id IN (SELECT value FROM json_each(:ids)) AND +grp = :grp) AND expired_at = :open_end

-- name: drop_unborn_visible
-- Remove visible intervals of these episodes of which nothing is left.
-- params: ids
DELETE FROM visible
WHERE episode IN (SELECT n FROM episode WHERE id IN (SELECT value FROM json_each(:ids))) AND created_at >= expired_at

-- name: owners_fact
-- Row numbers of fact versions.
-- params: ids
-- returns: n, uuid
SELECT n, uuid FROM fact WHERE uuid IN (SELECT value FROM json_each(:ids))

-- name: owners_entity
-- Row numbers of entities.
-- params: ids
-- returns: n, id
SELECT n, id FROM entity WHERE id IN (SELECT value FROM json_each(:ids))

-- name: owners_episode
-- Row numbers of episodes.
-- params: ids
-- returns: n, id
SELECT n, id FROM episode WHERE id IN (SELECT value FROM json_each(:ids))

-- name: owners_community
-- Row numbers of versions of communities.
-- params: ids
-- returns: n, uuid
SELECT n, uuid FROM community WHERE uuid IN (SELECT value FROM json_each(:ids))

-- name: add_words
-- Keep the words of an owner.
-- params: kind, owner, length, text
INSERT INTO words (kind, owner, length, text) VALUES (:kind, :owner, :length, :text)

-- name: add_word_index
-- Index words under their row number.
-- params: n, tokens
INSERT INTO word_index (rowid, tokens) VALUES (:n, :tokens)

-- name: drop_word_index
-- Take words out of the index; it needs them again to find them.
-- params: n, tokens
INSERT INTO word_index (word_index, rowid, tokens) VALUES ('delete', :n, :tokens)

-- name: drop_words
-- Remove words by row number.
-- params: rows
DELETE FROM words WHERE n IN (SELECT value FROM json_each(:rows))

-- name: merge_word_index
-- Rewrite the index, so that nothing removed stays in its pages.
INSERT INTO word_index (word_index) VALUES ('optimize')

-- name: old_vectors
-- Row numbers of the vectors of an owner, by [owner, piece].
-- params: kind, pairs
-- returns: n
SELECT v.n FROM json_each(:pairs) AS p
CROSS JOIN vector AS v ON v.kind = :kind AND v.owner = json_extract(p.value, '$[0]') AND v.piece = json_extract(p.value, '$[1]')

-- name: vector_rows_of
-- Row numbers of all vectors of these owners.
-- params: kind, rows
-- returns: n
SELECT n FROM vector WHERE kind = :kind AND owner IN (SELECT value FROM json_each(:rows))

-- name: drop_vectors
-- Remove vectors by row number.
-- params: rows
DELETE FROM vector WHERE n IN (SELECT value FROM json_each(:rows))

-- name: drop_exact_vectors
-- Remove the exact copies of vectors by row number.
-- params: rows
DELETE FROM vector_exact WHERE n IN (SELECT value FROM json_each(:rows))

-- name: add_vector
-- Keep the rough copy of a vector.
-- params: kind, owner, piece, scale, rough
INSERT INTO vector (kind, owner, piece, scale, rough) VALUES (:kind, :owner, :piece, :scale, :rough)

-- name: add_exact_vector
-- Keep the exact copy of a vector.
-- params: n, halves
INSERT INTO vector_exact (n, halves) VALUES (:n, :halves)

-- name: staging
-- A row if any vector is staged.
-- returns: 1
SELECT 1 FROM staged_vector LIMIT 1

-- name: add_staged_vector
-- Keep a vector of another embedder, both copies.
-- params: kind, owner, piece, scale, rough, halves
INSERT INTO staged_vector (kind, owner, piece, scale, rough, halves) VALUES (:kind, :owner, :piece, :scale, :rough, :halves)

-- name: drop_staged_vectors
-- Remove what is staged for owners by row number.
-- params: kind, rows
DELETE FROM staged_vector WHERE kind = :kind AND owner IN (SELECT value FROM json_each(:rows))

-- name: clear_staged_vectors
-- Remove all that is staged.
DELETE FROM staged_vector

-- name: clear_vectors
-- Remove the rough copy of every vector of every group.
DELETE FROM vector

-- name: clear_exact_vectors
-- Remove the exact copy of every vector of every group.
DELETE FROM vector_exact

-- name: use_staged_vectors
-- Take over the rough copies of what is staged.
INSERT INTO vector (kind, owner, piece, scale, rough)
SELECT kind, owner, piece, scale, rough FROM staged_vector ORDER BY kind, owner, piece

-- name: use_staged_exact_vectors
-- Take over the exact copies of what is staged, once the rough ones are there.
INSERT INTO vector_exact (n, halves)
SELECT v.n, s.halves FROM vector AS v JOIN staged_vector AS s ON s.kind = v.kind AND s.owner = v.owner AND s.piece = v.piece

-- name: put_answer
-- Record a model answer.
-- params: key, value, note
INSERT INTO answer (key, value, note) VALUES (:key, :value, :note)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, note = excluded.note

-- name: drop_answers
-- Remove recorded answers.
-- params: keys
DELETE FROM answer WHERE key IN (SELECT value FROM json_each(:keys))

-- name: put_meta
-- Keep a setting.
-- params: name, value
INSERT INTO meta (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value
