// What was true on a day
// As it is known now, with everything that was told since.
// Set first: :param group_id => 'main'; :param day => '2025-02-01'
MATCH (source:Entity)-[fact:RELATES_TO {group_id: $group_id}]->(target:Entity)
WHERE fact.expired_at IS NULL
  AND coalesce(fact.valid_at <= datetime(toString($day)), true)
  AND coalesce(fact.invalid_at > datetime(toString($day)), true)
RETURN source, fact, target
ORDER BY fact.valid_at DESC, fact.uuid
LIMIT 300
