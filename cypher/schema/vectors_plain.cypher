// name: fact_vectors
// Vectors of facts, for servers whose vector indexes cannot filter.
CREATE VECTOR INDEX gm_fact_vectors IF NOT EXISTS FOR ()-[r:RELATES_TO]-() ON r.fact_embedding
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}};

// name: entity_vectors
// Vectors of the names of entities.
CREATE VECTOR INDEX gm_entity_vectors IF NOT EXISTS FOR (n:GraphmemEntityPiece) ON n.embedding
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}};

// name: episode_vectors
// Vectors of the pieces of episodes.
CREATE VECTOR INDEX gm_episode_vectors IF NOT EXISTS FOR (n:GraphmemEpisodePiece) ON n.embedding
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}};

// name: community_vectors
// Vectors of communities.
CREATE VECTOR INDEX gm_community_vectors IF NOT EXISTS FOR (n:GraphmemCommunity) ON n.gm_embedding
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}};
