// name: graphiti_entities
// What Graphiti's clients search entities by. Brought up to date in the background: no write of ours waits for it.
CREATE FULLTEXT INDEX node_name_and_summary IF NOT EXISTS FOR (n:Entity) ON EACH [n.name, n.summary, n.group_id]
OPTIONS {indexConfig: {`fulltext.eventually_consistent`: true}};

// name: graphiti_facts
// What Graphiti's clients search facts by.
CREATE FULLTEXT INDEX edge_name_and_fact IF NOT EXISTS FOR ()-[r:RELATES_TO]-() ON EACH [r.name, r.fact, r.group_id]
OPTIONS {indexConfig: {`fulltext.eventually_consistent`: true}};

// name: graphiti_episodes
// What Graphiti's clients search episodes by.
CREATE FULLTEXT INDEX episode_content IF NOT EXISTS FOR (n:Episodic) ON EACH [n.content, n.source, n.source_description, n.group_id]
OPTIONS {indexConfig: {`fulltext.eventually_consistent`: true}};

// name: graphiti_communities
// What Graphiti's clients search communities by.
CREATE FULLTEXT INDEX community_name IF NOT EXISTS FOR (n:Community) ON EACH [n.name, n.group_id]
OPTIONS {indexConfig: {`fulltext.eventually_consistent`: true}};
