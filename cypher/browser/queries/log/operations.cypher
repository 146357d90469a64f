// Operations
// What was forgotten, restored, merged or corrected, by whom, when and why, the last first.
// Set first: :param group_id => 'main'
MATCH (operation:GraphmemOperation {group_id: $group_id})
WHERE operation.id IS NOT NULL AND operation.kind <> 'ontology'
RETURN operation.kind AS kind, toString(datetime({epochMillis: operation.created_at / 1000})) AS at,
  operation['author'] AS author, operation['reason'] AS reason, operation.targets AS targets, operation.id AS id
ORDER BY operation.seq DESC
LIMIT 300
