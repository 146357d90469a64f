// Sources of a fact
// Its two ends, and the episodes that it cites.
// Set first: :param group_id => 'main'; :param fact => 'the uuid of a fact'
MATCH (source:Entity)-[fact:RELATES_TO {group_id: $group_id, uuid: $fact}]->(target:Entity)
UNWIND fact.episodes AS id
MATCH (episode:Episodic {group_id: $group_id, uuid: id})
OPTIONAL MATCH (episode)-[mention:MENTIONS]->(entity:Entity)
WHERE entity IN [source, target]
RETURN source, fact, target, episode, mention
ORDER BY episode.valid_at, episode.uuid
LIMIT 300
