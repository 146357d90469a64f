// What is planned
// Facts that begin only after this moment, the next first.
// Set first: :param group_id => 'main'
MATCH (source:Entity)-[fact:RELATES_TO {group_id: $group_id}]->(target:Entity)
WHERE fact.expired_at IS NULL AND fact.valid_at > datetime()
RETURN source, fact, target
ORDER BY fact.valid_at, fact.uuid
LIMIT 300
