// What is true now
// Entities and the facts between them that hold at this moment, those learnt last first.
// Set first: :param group_id => 'main'
MATCH (source:Entity)-[fact:RELATES_TO {group_id: $group_id}]->(target:Entity)
WHERE fact.expired_at IS NULL
  AND coalesce(fact.valid_at <= datetime(), true)
  AND coalesce(fact.invalid_at > datetime(), true)
RETURN source, fact, target
ORDER BY fact.created_at DESC, fact.uuid
LIMIT 300
