// name: fact_vectors
// Vectors of facts, with what an as-of read filters by inside the index.
CYPHER 25 CREATE VECTOR INDEX gm_fact_vectors IF NOT EXISTS FOR ()-[r:RELATES_TO]-() ON r.fact_embedding
WITH [r.group_id, r.gm_from, r.gm_to, r.gm_valid_from, r.gm_valid_to, r.gm_added, r.gm_ended]
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}};

// name: entity_vectors
// Vectors of the names of entities.
CYPHER 25 CREATE VECTOR INDEX gm_entity_vectors IF NOT EXISTS FOR (n:GraphmemEntityPiece) ON n.embedding
WITH [n.group_id]
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}};

// name: episode_vectors
// Vectors of the pieces of episodes.
CYPHER 25 CREATE VECTOR INDEX gm_episode_vectors IF NOT EXISTS FOR (n:GraphmemEpisodePiece) ON n.embedding
WITH [n.group_id]
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}};

// name: community_vectors
// Vectors of communities, with what an as-of read filters by inside the index.
CYPHER 25 CREATE VECTOR INDEX gm_community_vectors IF NOT EXISTS FOR (n:GraphmemCommunity) ON n.gm_embedding
WITH [n.group_id, n.gm_from, n.gm_to, n.gm_added, n.gm_ended]
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}};
