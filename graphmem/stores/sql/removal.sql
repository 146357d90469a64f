-- name: rows_of_facts
-- Row numbers of every fact version of a group.
-- params: grp
-- returns: n
SELECT n FROM fact WHERE grp = :grp

-- name: rows_of_entities
-- Row numbers of every entity of a group.
-- params: grp
-- returns: n
SELECT n FROM entity WHERE grp = :grp

-- name: rows_of_episodes
-- Row numbers of every episode of a group.
-- params: grp
-- returns: n
SELECT n FROM episode WHERE grp = :grp

-- name: rows_of_communities
-- Row numbers of every version of a group's communities.
-- params: grp
-- returns: n
SELECT n FROM community WHERE grp = :grp

-- name: clear_facts
-- Remove every fact version of a group.
-- params: grp
DELETE FROM fact WHERE grp = :grp

-- name: clear_keys
-- Remove every key row of a group.
-- params: grp
DELETE FROM fact_key WHERE grp = :grp

-- name: clear_citations
-- Remove every citation of a group.
-- params: grp
DELETE FROM citation WHERE grp = :grp

-- name: clear_names
-- Remove every entity name of a group.
-- params: grp
DELETE FROM entity_name WHERE version IN (SELECT n FROM entity_version WHERE grp = :grp)

-- name: clear_entity_versions
-- Remove every entity version of a group.
-- params: grp
DELETE FROM entity_version WHERE grp = :grp

-- name: clear_entities
-- Remove the row numbers of a group's entities.
-- params: grp
DELETE FROM entity WHERE grp = :grp

-- name: clear_mentions
-- Remove every mention version of a group.
-- params: grp
DELETE FROM mention_version WHERE grp = :grp

-- name: clear_visible
-- Remove every visible interval of a group.
-- params: grp
DELETE FROM visible WHERE grp = :grp

-- name: erase_keys
-- Remove the key rows of episodes by row number.
-- params: rows
DELETE FROM fact_key WHERE assertion IN (SELECT id FROM assertion WHERE episode IN (SELECT value FROM json_each(:rows)))

-- name: erase_decisions
-- Remove the decisions of episodes by row number.
-- params: rows
DELETE FROM decision WHERE assertion IN (SELECT n FROM assertion WHERE episode IN (SELECT value FROM json_each(:rows)))

-- name: erase_assertions
-- Remove the assertions of episodes by row number.
-- params: rows
DELETE FROM assertion WHERE episode IN (SELECT value FROM json_each(:rows))

-- name: erase_links
-- Remove the links of episodes by row number.
-- params: rows
DELETE FROM link WHERE episode IN (SELECT value FROM json_each(:rows))

-- name: erase_mention_versions
-- Remove the mention versions of episodes by row number.
-- params: rows
DELETE FROM mention_version WHERE episode IN (SELECT value FROM json_each(:rows))

-- name: erase_mentions
-- Remove the mentions of episodes by row number.
-- params: rows
DELETE FROM mention WHERE episode IN (SELECT value FROM json_each(:rows))

-- name: erase_visible
-- Remove the visible intervals of episodes by row number.
-- params: rows
DELETE FROM visible WHERE episode IN (SELECT value FROM json_each(:rows))

-- name: erase_citations
-- Remove citations of episodes.
-- params: ids
DELETE FROM citation WHERE episode IN (SELECT value FROM json_each(:ids))

-- name: erase_episodes
-- Remove episodes by row number.
-- params: rows
DELETE FROM episode WHERE n IN (SELECT value FROM json_each(:rows))

-- name: erase_operation_targets
-- Remove what operations act on.
-- params: ids
DELETE FROM operation_target WHERE operation IN (SELECT n FROM operation WHERE id IN (SELECT value FROM json_each(:ids)))

-- name: erase_operations
-- Remove operations.
-- params: ids
DELETE FROM operation WHERE id IN (SELECT value FROM json_each(:ids))

-- name: erase_operation_targets_of
-- Remove what the operations of a group act on.
-- params: grp
DELETE FROM operation_target WHERE operation IN (SELECT n FROM operation WHERE grp = :grp)

-- name: erase_operations_of
-- Remove the operations of a group.
-- params: grp
DELETE FROM operation WHERE grp = :grp

-- name: erase_group_of
-- Remove a group that has no rows any more.
-- params: grp
DELETE FROM grp WHERE n = :grp

-- name: erase_meta_of
-- Remove the settings of a group: those whose name goes on with a colon and the group's.
-- params: name
DELETE FROM meta WHERE instr(name, ':') > 0 AND substr(name, instr(name, ':') + 1) = :name

-- name: drop_meta
-- Remove a setting.
-- params: name
DELETE FROM meta WHERE name = :name
