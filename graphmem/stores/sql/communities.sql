-- name: communities_in_groups
-- Communities believed at an instant.
-- params: grps, system
-- returns: uuid, id, grp, level, name, summary, created_at, expired_at, parent, facts, attributes
SELECT uuid, id, grp, level, name, summary, created_at, expired_at, parent, facts, attributes FROM community
WHERE grp IN (SELECT value FROM json_each(:grps)) AND created_at <= :system AND expired_at > :system
ORDER BY level, id

-- name: communities_by_id
-- Communities of these ids believed at an instant.
-- params: ids, grps, system
-- returns: as communities_in_groups
SELECT uuid, id, grp, level, name, summary, created_at, expired_at, parent, facts, attributes FROM community
WHERE id IN (SELECT value FROM json_each(:ids)) AND +grp IN (SELECT value FROM json_each(:grps))
    AND created_at <= :system AND expired_at > :system
ORDER BY level, id

-- name: communities_by_uuid
-- Versions of these uuids believed at an instant.
-- params: ids, grps, system
-- returns: as communities_in_groups
SELECT uuid, id, grp, level, name, summary, created_at, expired_at, parent, facts, attributes FROM community
WHERE uuid IN (SELECT value FROM json_each(:ids)) AND +grp IN (SELECT value FROM json_each(:grps))
    AND created_at <= :system AND expired_at > :system
ORDER BY level, id

-- name: communities_ever
-- Every version of a group's communities.
-- params: grp
-- returns: as communities_in_groups
SELECT uuid, id, grp, level, name, summary, created_at, expired_at, parent, facts, attributes FROM community
WHERE grp = :grp ORDER BY created_at, uuid

-- name: communities_ever_by_uuid
-- Versions of these uuids, believed or not.
-- params: grp, ids
-- returns: as communities_in_groups
SELECT uuid, id, grp, level, name, summary, created_at, expired_at, parent, facts, attributes FROM community
WHERE uuid IN (SELECT value FROM json_each(:ids)) AND +grp = :grp ORDER BY created_at, uuid

-- name: members_in_groups
-- Memberships believed at an instant, of one level or all.
-- params: grps, system, level
-- returns: community, level, entity, created_at, expired_at
SELECT m.community, m.level, e.id, m.created_at, m.expired_at FROM member AS m JOIN entity AS e ON e.n = m.entity
WHERE m.grp IN (SELECT value FROM json_each(:grps)) AND m.expired_at > :system AND m.created_at <= :system
    AND (:level IS NULL OR m.level = :level)
ORDER BY m.level, m.community, e.id

-- name: members_of_communities
-- Memberships of these communities believed at an instant.
-- params: ids, grps, system
-- returns: as members_in_groups
SELECT m.community, m.level, e.id, m.created_at, m.expired_at FROM member AS m JOIN entity AS e ON e.n = m.entity
WHERE m.community IN (SELECT value FROM json_each(:ids)) AND m.expired_at > :system AND m.created_at <= :system
    AND +m.grp IN (SELECT value FROM json_each(:grps))
ORDER BY m.level, m.community, e.id

-- name: members_of_entities
-- Memberships of these entities believed at an instant.
-- params: ids, grps, system
-- returns: as members_in_groups
SELECT m.community, m.level, e.id, m.created_at, m.expired_at FROM entity AS e JOIN member AS m ON m.entity = e.n
WHERE e.id IN (SELECT value FROM json_each(:ids)) AND m.expired_at > :system AND m.created_at <= :system
    AND +m.grp IN (SELECT value FROM json_each(:grps))
ORDER BY m.level, m.community, e.id

-- name: sizes_in_groups
-- How many members the largest communities have at an instant, of one level or all.
-- params: grps, system, level, count
-- returns: community, members
SELECT community, count(*) AS members FROM member
WHERE grp IN (SELECT value FROM json_each(:grps)) AND expired_at > :system AND created_at <= :system
    AND (:level IS NULL OR level = :level)
GROUP BY community ORDER BY members DESC, community LIMIT :count

-- name: sizes_of_communities
-- How many members these communities have at an instant.
-- params: ids, grps, system, level, count
-- returns: as sizes_in_groups
SELECT community, count(*) AS members FROM member
WHERE community IN (SELECT value FROM json_each(:ids)) AND expired_at > :system AND created_at <= :system
    AND +grp IN (SELECT value FROM json_each(:grps)) AND (:level IS NULL OR level = :level)
GROUP BY community ORDER BY members DESC, community LIMIT :count

-- name: members_ever
-- Every membership of a group there has been.
-- params: grp
-- returns: as members_in_groups
SELECT m.community, m.level, e.id, m.created_at, m.expired_at FROM member AS m JOIN entity AS e ON e.n = m.entity
WHERE m.grp = :grp ORDER BY m.created_at, m.level, e.id

-- name: group_is_large
-- Whether a quarter of the file's fact versions, or more, are the group's.
-- params: grp
-- returns: is_large
SELECT 4 * (SELECT count(*) FROM fact WHERE grp = :grp) >= (SELECT coalesce(max(n), 0) FROM fact)

-- name: ties_in_group
-- Facts that pass, as edges, with the number of episodes they cite, at least 1; one row, each column a JSON array. For a large group:
-- an index of all citations tells where there is more than one row to count.
-- params: grp, system, valid_lo, valid_hi
-- returns: uuids, sources, targets, valid_ats, citations
WITH several AS MATERIALIZED (SELECT fact_id, valid_at FROM citation GROUP BY fact_id, valid_at HAVING count(*) > 1)
SELECT json_group_array(f.uuid), json_group_array(f.source), json_group_array(f.target), json_group_array(f.valid_at),
    json_group_array(CASE WHEN (f.fact_id, f.valid_at) IN several THEN max(1, (
    SELECT count(DISTINCT c.episode) FROM citation AS c
    WHERE c.fact_id = f.fact_id AND c.valid_at = f.valid_at AND c.created_at <= :system AND c.expired_at > :system
)) ELSE 1 END)
FROM fact AS f
WHERE f.grp = :grp AND f.created_at <= :system AND f.expired_at > :system AND f.valid_at <= :valid_hi AND f.invalid_at > :valid_lo

-- name: ties_in_small_group
-- As ties_in_group, for one of many groups.
-- params: grp, system, valid_lo, valid_hi
-- returns: uuids, sources, targets, valid_ats, citations
SELECT json_group_array(f.uuid), json_group_array(f.source), json_group_array(f.target), json_group_array(f.valid_at),
    json_group_array(max(1, (
    SELECT count(DISTINCT c.episode) FROM citation AS c
    WHERE c.fact_id = f.fact_id AND c.valid_at = f.valid_at AND c.created_at <= :system AND c.expired_at > :system
)))
FROM fact AS f
WHERE f.grp = :grp AND f.created_at <= :system AND f.expired_at > :system AND f.valid_at <= :valid_hi AND f.invalid_at > :valid_lo

-- name: ties_of_entities
-- As ties_in_group, for facts that touch one of these entities.
-- params: ids, grp, system, valid_lo, valid_hi
-- returns: uuids, sources, targets, valid_ats, citations
SELECT json_group_array(f.uuid), json_group_array(f.source), json_group_array(f.target), json_group_array(f.valid_at),
    json_group_array(max(1, (
    SELECT count(DISTINCT c.episode) FROM citation AS c
    WHERE c.fact_id = f.fact_id AND c.valid_at = f.valid_at AND c.created_at <= :system AND c.expired_at > :system
)))
FROM fact AS f
WHERE f.n IN (
    SELECT n FROM fact WHERE source IN (SELECT value FROM json_each(:ids))
    UNION SELECT n FROM fact WHERE target IN (SELECT value FROM json_each(:ids))
) AND +f.grp = :grp AND f.created_at <= :system AND f.expired_at > :system AND f.valid_at <= :valid_hi AND f.invalid_at > :valid_lo

-- name: add_community
-- Insert a version of a community.
-- params: uuid, id, grp, level, parent, name, summary, facts, attributes, created_at, expired_at, changed
INSERT INTO community (uuid, id, grp, level, parent, name, summary, facts, attributes, created_at, expired_at, changed)
VALUES (:uuid, :id, :grp, :level, :parent, :name, :summary, :facts, :attributes, :created_at, :expired_at, :changed)

-- name: end_communities
-- Close open versions by uuid.
-- params: ids, at, open_end, changed
UPDATE community SET expired_at = :at, changed = :changed WHERE uuid IN (SELECT value FROM json_each(:ids)) AND expired_at = :open_end

-- name: unborn_communities
-- Of these versions, those of which nothing is left.
-- params: ids
-- returns: n, uuid
SELECT n, uuid FROM community WHERE uuid IN (SELECT value FROM json_each(:ids)) AND created_at >= expired_at

-- name: drop_communities
-- Remove versions by row number.
-- params: rows
DELETE FROM community WHERE n IN (SELECT value FROM json_each(:rows))

-- name: add_members
-- Insert memberships: of each the row number of the entity, the level and the community.
-- params: rows, grp, created_at, expired_at
INSERT INTO member (entity, level, created_at, expired_at, community, grp)
SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), :created_at, :expired_at, json_extract(value, '$[2]'), :grp FROM json_each(:rows)

-- name: end_member
-- Close the open membership on a level of an entity, by row number.
-- params: entity, level, at, open_end
UPDATE member SET expired_at = :at
WHERE entity = :entity AND level = :level AND expired_at = :open_end

-- name: drop_unborn_members
-- Remove memberships of which nothing is left.
-- params: grp, at
DELETE FROM member WHERE grp = :grp AND expired_at = :at AND created_at >= expired_at

-- name: clear_communities
-- Remove every community of a group.
-- params: grp
DELETE FROM community WHERE grp = :grp

-- name: clear_members
-- Remove every membership of a group.
-- params: grp
DELETE FROM member WHERE grp = :grp

-- name: members_without_community
-- Memberships in a community that is not there.
-- returns: community, level
SELECT DISTINCT m.community, m.level FROM member AS m
WHERE NOT EXISTS (SELECT 1 FROM community AS c WHERE c.id = m.community AND c.level = m.level AND c.grp = m.grp)

-- name: overlapping_members
-- Entities with two communities on one level at one instant.
-- returns: id, level
SELECT DISTINCT e.id, a.level FROM member AS a JOIN member AS b
    ON b.entity = a.entity AND b.level = a.level AND b.created_at > a.created_at AND b.created_at < a.expired_at
JOIN entity AS e ON e.n = a.entity

-- name: overlapping_communities
-- Communities with two versions believed at one instant.
-- returns: id
SELECT DISTINCT a.id FROM community AS a JOIN community AS b
    ON b.id = a.id AND b.n > a.n AND a.created_at < b.expired_at AND b.created_at < a.expired_at
