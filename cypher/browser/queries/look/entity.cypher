// Around an entity, now
// What holds at this moment of an entity, and of what it is tied to.
// Set first: :param group_id => 'main'; :param name => 'Mira Okafor'
MATCH (:GraphmemName {group_id: $group_id, key: btrim(toLower($name), ' .,;:!?')})-[:GRAPHMEM_OF]->(version)
WITH DISTINCT version.id AS id
MATCH (entity:Entity {group_id: $group_id, uuid: id})
MATCH path = (entity)-[facts:RELATES_TO*1..2]-(:Entity)
WHERE all(fact IN facts WHERE fact.expired_at IS NULL
  AND coalesce(fact.valid_at <= datetime(), true)
  AND coalesce(fact.invalid_at > datetime(), true))
RETURN path
ORDER BY length(path)
LIMIT 200
