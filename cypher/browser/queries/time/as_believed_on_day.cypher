// What was believed on a day
// What the memory would have answered then, without what it was told later.
// Set first: :param group_id => 'main'; :param day => '2025-02-01'
MATCH (source:Entity)-[fact:RELATES_TO {group_id: $group_id}]->(target:Entity)
WHERE fact.created_at <= datetime(toString($day))
  AND coalesce(fact.expired_at > datetime(toString($day)), true)
  AND coalesce(fact.valid_at <= datetime(toString($day)), true)
  AND coalesce(fact.invalid_at > datetime(toString($day)), true)
RETURN source, fact, target
ORDER BY fact.created_at DESC, fact.uuid
LIMIT 300
