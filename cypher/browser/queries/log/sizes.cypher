// Size of a group
// Episodes, entities, versions of facts, and their vectors.
// Set first: :param group_id => 'main'
MATCH (group:GraphmemGroup {group_id: $group_id})
RETURN group.seq AS log, group.episode_rows AS episodes, group.entity_rows AS entities, group.fact_rows AS fact_versions,
  group.fact_vectors AS fact_vectors, group.entity_vectors AS entity_vectors, group.episode_vectors AS episode_vectors
