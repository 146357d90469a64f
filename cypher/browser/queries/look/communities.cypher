// Communities
// Entities that belong together, with their members. Nothing comes back while none have been built.
// Set first: :param group_id => 'main'
MATCH (community:Community {group_id: $group_id}) WHERE community.uuid IS NOT NULL
OPTIONAL MATCH (community)-[member:HAS_MEMBER]->(entity:Entity)
RETURN community, member, entity
ORDER BY community.name, community.uuid
LIMIT 300
