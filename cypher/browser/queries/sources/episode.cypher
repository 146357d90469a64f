// What an episode gave
// The entities it mentions and the facts that cite it.
// Set first: :param group_id => 'main'; :param episode => 'the uuid of an episode'
MATCH (episode:Episodic {group_id: $group_id, uuid: $episode})
OPTIONAL MATCH (episode)-[mention:MENTIONS]->(entity:Entity)
WITH episode, collect(mention) AS mentions, collect(entity) AS entities
UNWIND CASE WHEN size(episode.entity_edges) = 0 THEN [null] ELSE episode.entity_edges END AS id
OPTIONAL MATCH (source:Entity)-[fact:RELATES_TO {group_id: $group_id, uuid: id}]->(target:Entity)
RETURN episode, mentions, entities, source, fact, target
LIMIT 300
