// Episodes of an entity
// Those that mention it, the last first.
// Set first: :param group_id => 'main'; :param name => 'Mira Okafor'
MATCH (:GraphmemName {group_id: $group_id, key: btrim(toLower($name), ' .,;:!?')})-[:GRAPHMEM_OF]->(version)
WITH DISTINCT version.id AS id
MATCH (entity:Entity {group_id: $group_id, uuid: id})<-[mention:MENTIONS]-(episode:Episodic)
RETURN entity, mention, episode
ORDER BY episode.valid_at DESC, episode.uuid
LIMIT 100
