// History, as a table
// Everything that is held true of an entity at some time, a row for each fact, in the order of time.
// Set first: :param group_id => 'main'; :param name => 'Mira Okafor'
MATCH (:GraphmemName {group_id: $group_id, key: btrim(toLower($name), ' .,;:!?')})-[:GRAPHMEM_OF]->(version)
WITH DISTINCT version.id AS id
MATCH (entity:Entity {group_id: $group_id, uuid: id})-[fact:RELATES_TO]-(:Entity)
WHERE fact.expired_at IS NULL
WITH DISTINCT fact
RETURN toString(date(fact.valid_at)) AS from, toString(date(fact.invalid_at)) AS until, fact.name AS relation, fact.fact AS text,
  size(fact.episodes) AS sources, fact.uuid AS uuid
ORDER BY fact.valid_at, fact.created_at, fact.uuid
LIMIT 500
