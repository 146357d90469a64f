// History, as a picture
// Everything that is held true of an entity at some time, also what has ended.
// Set first: :param group_id => 'main'; :param name => 'Mira Okafor'
MATCH (:GraphmemName {group_id: $group_id, key: btrim(toLower($name), ' .,;:!?')})-[:GRAPHMEM_OF]->(version)
WITH DISTINCT version.id AS id
MATCH (entity:Entity {group_id: $group_id, uuid: id})-[fact:RELATES_TO]-(other:Entity)
WHERE fact.expired_at IS NULL
RETURN entity, fact, other
ORDER BY fact.valid_at, fact.uuid
LIMIT 300
