// name: community_key
// Versions of communities by uuid.
CREATE CONSTRAINT gm_community IF NOT EXISTS FOR (n:GraphmemCommunity) REQUIRE (n.group_id, n.uuid) IS UNIQUE;

// name: community_by_id
// Versions of communities by community.
CREATE INDEX gm_community_id IF NOT EXISTS FOR (n:GraphmemCommunity) ON (n.group_id, n.id);

// name: shown_community_key
// Communities believed now, as Graphiti's clients read them.
CREATE CONSTRAINT gm_shown_community IF NOT EXISTS FOR (n:Community) REQUIRE (n.group_id, n.uuid) IS UNIQUE;

// name: community_by_uuid
// Communities of any group; Graphiti gives this index the same name.
CREATE INDEX community_uuid IF NOT EXISTS FOR (n:Community) ON (n.uuid);

// name: member_by_entity
// Memberships by entity.
CREATE INDEX gm_member_entity IF NOT EXISTS FOR (n:GraphmemMember) ON (n.group_id, n.entity);

// name: member_by_community
// Memberships by community.
CREATE INDEX gm_member_community IF NOT EXISTS FOR (n:GraphmemMember) ON (n.group_id, n.community);
