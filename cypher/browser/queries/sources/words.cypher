// Words about an entity
// The texts of the episodes that mention it, in the order of time.
// Set first: :param group_id => 'main'; :param name => 'Mira Okafor'
MATCH (:GraphmemName {group_id: $group_id, key: btrim(toLower($name), ' .,;:!?')})-[:GRAPHMEM_OF]->(version)
WITH DISTINCT version.id AS id
MATCH (entity:Entity {group_id: $group_id, uuid: id})<-[:MENTIONS]-(episode:Episodic)
WITH DISTINCT episode
RETURN toString(episode.valid_at) AS at, episode.name AS name, episode.content AS content, episode.uuid AS uuid
ORDER BY episode.valid_at, episode.uuid
LIMIT 300
