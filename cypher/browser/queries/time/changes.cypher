// Changes, as a table
// Facts that were learnt, revised or withdrawn since a day, the last change first.
// Set first: :param group_id => 'main'; :param since => '2025-06-01'
MATCH (source:Entity)-[version:RELATES_TO {group_id: $group_id}]->(target:Entity)
WHERE version.created_at >= datetime(toString($since)) OR version.expired_at >= datetime(toString($since))
WITH version.gm_fact_id AS fact_id, version.name AS relation, source, target,
  max(CASE WHEN version.expired_at >= datetime(toString($since)) THEN version.expired_at ELSE version.created_at END) AS at,
  collect(CASE WHEN version.created_at < datetime(toString($since)) THEN version END) AS before,
  collect(CASE WHEN version.expired_at IS NULL THEN version END) AS now
RETURN toString(at) AS at,
  CASE WHEN size(now) = 0 THEN 'withdrawn' WHEN size(before) = 0 THEN 'learnt' ELSE 'revised' END AS change,
  source.name AS source, relation, target.name AS target,
  [v IN before | coalesce(toString(date(v.valid_at)), '?') + ' to ' + coalesce(toString(date(v.invalid_at)), 'open')] AS was,
  [v IN now | coalesce(toString(date(v.valid_at)), '?') + ' to ' + coalesce(toString(date(v.invalid_at)), 'open')] AS is
ORDER BY at DESC, source, relation, target
LIMIT 500
