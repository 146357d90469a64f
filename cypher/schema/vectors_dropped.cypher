// name: drop_fact_vectors
// Make room for an index of another kind.
DROP INDEX gm_fact_vectors IF EXISTS;

// name: drop_entity_vectors
// Make room for an index of another kind.
DROP INDEX gm_entity_vectors IF EXISTS;

// name: drop_episode_vectors
// Make room for an index of another kind.
DROP INDEX gm_episode_vectors IF EXISTS;

// name: drop_community_vectors
// Make room for an index of another kind.
DROP INDEX gm_community_vectors IF EXISTS;
