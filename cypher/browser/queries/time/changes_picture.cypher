// Changes, as a picture
// Versions of facts that the memory began or ceased to believe since a day.
// Set first: :param group_id => 'main'; :param since => '2025-06-01'
MATCH (source:Entity)-[fact:RELATES_TO {group_id: $group_id}]->(target:Entity)
WHERE fact.created_at >= datetime(toString($since)) OR fact.expired_at >= datetime(toString($since))
RETURN source, fact, target
ORDER BY fact.created_at DESC, fact.uuid
LIMIT 300
