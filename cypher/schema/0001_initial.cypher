// name: group_key
// One node a group: its lock, the end of its log, and its counters.
CREATE CONSTRAINT gm_group IF NOT EXISTS FOR (n:GraphmemGroup) REQUIRE n.group_id IS UNIQUE;

// name: episode_key
// Episodes by id.
CREATE CONSTRAINT gm_episode IF NOT EXISTS FOR (n:GraphmemEpisode) REQUIRE (n.group_id, n.id) IS UNIQUE;

// name: episode_idempotency
// Episodes by idempotency key: no two of one group.
CREATE CONSTRAINT gm_episode_key IF NOT EXISTS FOR (n:GraphmemEpisode) REQUIRE (n.group_id, n.key_index) IS UNIQUE;

// name: episode_by_seq
// Episodes in the order of the log.
CREATE INDEX gm_episode_seq IF NOT EXISTS FOR (n:GraphmemEpisode) ON (n.group_id, n.seq);

// name: episode_by_time
// Episodes in the order of their reference time.
CREATE INDEX gm_episode_time IF NOT EXISTS FOR (n:GraphmemEpisode) ON (n.group_id, n.reference_time);

// name: episode_by_session
// Episodes of one session in the order of their reference time.
CREATE INDEX gm_episode_session IF NOT EXISTS FOR (n:GraphmemEpisode) ON (n.group_id, n.session_index, n.reference_time);

// name: assertion_key
// Assertions by id.
CREATE CONSTRAINT gm_assertion IF NOT EXISTS FOR (n:GraphmemAssertion) REQUIRE (n.group_id, n.id) IS UNIQUE;

// name: assertion_by_episode
// Assertions by episode.
CREATE INDEX gm_assertion_episode IF NOT EXISTS FOR (n:GraphmemAssertion) ON (n.group_id, n.episode);

// name: assertion_by_fact
// Assertions by the fact they speak of now.
CREATE INDEX gm_assertion_fact IF NOT EXISTS FOR (n:GraphmemAssertion) ON (n.group_id, n.fact_id);

// name: assertion_by_source
// Assertions by their source as recorded.
CREATE INDEX gm_assertion_source IF NOT EXISTS FOR (n:GraphmemAssertion) ON (n.group_id, n.source);

// name: assertion_by_target
// Assertions by their target as recorded.
CREATE INDEX gm_assertion_target IF NOT EXISTS FOR (n:GraphmemAssertion) ON (n.group_id, n.target);

// name: assertion_by_key_source
// Assertions by the source of the fact they speak of now.
CREATE INDEX gm_assertion_key_source IF NOT EXISTS FOR (n:GraphmemAssertion) ON (n.group_id, n.key_source);

// name: assertion_by_key_target
// Assertions by the target of the fact they speak of now.
CREATE INDEX gm_assertion_key_target IF NOT EXISTS FOR (n:GraphmemAssertion) ON (n.group_id, n.key_target);

// name: decision_by_named
// Assertions by another one that they name.
CREATE INDEX gm_decision IF NOT EXISTS FOR (n:GraphmemDecision) ON (n.group_id, n.named);

// name: decision_by_assertion
// What an assertion names.
CREATE INDEX gm_decision_assertion IF NOT EXISTS FOR (n:GraphmemDecision) ON (n.group_id, n.assertion);

// name: link_by_one
// Links by the first of their entities.
CREATE INDEX gm_link_one IF NOT EXISTS FOR (n:GraphmemLink) ON (n.group_id, n.one);

// name: link_by_other
// Links by the second of their entities.
CREATE INDEX gm_link_other IF NOT EXISTS FOR (n:GraphmemLink) ON (n.group_id, n.other);

// name: link_by_episode
// Links by episode.
CREATE INDEX gm_link_episode IF NOT EXISTS FOR (n:GraphmemLink) ON (n.group_id, n.episode);

// name: operation_key
// Operations by id.
CREATE CONSTRAINT gm_operation IF NOT EXISTS FOR (n:GraphmemOperation) REQUIRE (n.group_id, n.id) IS UNIQUE;

// name: target_by_id
// Operations by what they act on.
CREATE INDEX gm_target IF NOT EXISTS FOR (n:GraphmemTarget) ON (n.group_id, n.target);

// name: mention_by_episode
// Mentions by episode and position.
CREATE INDEX gm_mention IF NOT EXISTS FOR (n:GraphmemMention) ON (n.group_id, n.episode);

// name: mention_by_entity
// Mentions by the entity they were recorded for.
CREATE INDEX gm_mention_entity IF NOT EXISTS FOR (n:GraphmemMention) ON (n.group_id, n.entity);

// name: named_by_group
// For which entity each mention counts, by group.
CREATE INDEX gm_named IF NOT EXISTS FOR ()-[r:GRAPHMEM_NAMED]-() ON (r.group_id);

// name: citation_by_fact
// Citations by fact.
CREATE INDEX gm_citation_fact IF NOT EXISTS FOR (n:GraphmemCitation) ON (n.group_id, n.fact_id);

// name: citation_by_episode
// Citations by episode.
CREATE INDEX gm_citation_episode IF NOT EXISTS FOR (n:GraphmemCitation) ON (n.group_id, n.episode);

// name: entity_version_key
// Entity versions by uuid.
CREATE CONSTRAINT gm_entity_version IF NOT EXISTS FOR (n:GraphmemEntity) REQUIRE (n.group_id, n.uuid) IS UNIQUE;

// name: entity_version_by_id
// Entity versions by entity.
CREATE INDEX gm_entity_id IF NOT EXISTS FOR (n:GraphmemEntity) ON (n.group_id, n.id);

// name: name_key
// Names by their key.
CREATE CONSTRAINT gm_name IF NOT EXISTS FOR (n:GraphmemName) REQUIRE (n.group_id, n.key) IS UNIQUE;

// name: word_key
// In how many rows of a group a word occurs.
CREATE CONSTRAINT gm_word IF NOT EXISTS FOR (n:GraphmemWord) REQUIRE (n.group_id, n.kind, n.token) IS UNIQUE;

// name: word_by_token
// Words of all groups.
CREATE INDEX gm_word_token IF NOT EXISTS FOR (n:GraphmemWord) ON (n.kind, n.token);

// name: answer_key
// Recorded answers.
CREATE CONSTRAINT gm_answer IF NOT EXISTS FOR (n:GraphmemAnswer) REQUIRE n.key_index IS UNIQUE;

// name: meta_key
// Settings kept with the data.
CREATE CONSTRAINT gm_meta IF NOT EXISTS FOR (n:GraphmemMeta) REQUIRE n.name_index IS UNIQUE;

// name: entity_key
// Entities of a group.
CREATE CONSTRAINT gm_entity IF NOT EXISTS FOR (n:Entity) REQUIRE (n.group_id, n.uuid) IS UNIQUE;

// name: entity_by_uuid
// Entities of any group; Graphiti gives this index the same name.
CREATE INDEX entity_uuid IF NOT EXISTS FOR (n:Entity) ON (n.uuid);

// name: episodic_key
// Visible episodes of a group.
CREATE CONSTRAINT gm_episodic IF NOT EXISTS FOR (n:Episodic) REQUIRE (n.group_id, n.uuid) IS UNIQUE;

// name: episodic_by_uuid
// Visible episodes of any group; Graphiti gives this index the same name.
CREATE INDEX episode_uuid IF NOT EXISTS FOR (n:Episodic) ON (n.uuid);

// name: fact_key
// Fact versions of a group.
CREATE CONSTRAINT gm_fact IF NOT EXISTS FOR ()-[r:RELATES_TO]-() REQUIRE (r.group_id, r.uuid) IS UNIQUE;

// name: fact_by_uuid
// Fact versions of any group; Graphiti gives this index the same name.
CREATE INDEX relation_uuid IF NOT EXISTS FOR ()-[r:RELATES_TO]-() ON (r.uuid);

// name: fact_by_group
// All fact versions of a group; Graphiti gives this index the same name.
CREATE INDEX relation_group_id IF NOT EXISTS FOR ()-[r:RELATES_TO]-() ON (r.group_id);

// name: fact_by_fact
// Fact versions by fact.
CREATE INDEX gm_fact_id IF NOT EXISTS FOR ()-[r:RELATES_TO]-() ON (r.group_id, r.gm_fact_id);

// name: fact_by_relation
// Fact versions by relation.
CREATE INDEX gm_fact_relation IF NOT EXISTS FOR ()-[r:RELATES_TO]-() ON (r.group_id, r.gm_relation_index);

// name: entity_piece_key
// Vectors of the names of entities.
CREATE CONSTRAINT gm_entity_piece IF NOT EXISTS FOR (n:GraphmemEntityPiece) REQUIRE (n.group_id, n.owner, n.piece) IS UNIQUE;

// name: entity_piece_by_owner
// Vectors of the names of entities of any group.
CREATE INDEX gm_entity_piece_owner IF NOT EXISTS FOR (n:GraphmemEntityPiece) ON (n.owner);

// name: episode_piece_key
// Vectors of the pieces of episodes.
CREATE CONSTRAINT gm_episode_piece IF NOT EXISTS FOR (n:GraphmemEpisodePiece) REQUIRE (n.group_id, n.owner, n.piece) IS UNIQUE;

// name: episode_piece_by_owner
// Vectors of the pieces of episodes of any group.
CREATE INDEX gm_episode_piece_owner IF NOT EXISTS FOR (n:GraphmemEpisodePiece) ON (n.owner);

// name: staged_by_owner
// Vectors of another embedder, not in use yet.
CREATE INDEX gm_staged IF NOT EXISTS FOR (n:GraphmemStagedVector) ON (n.group_id, n.kind, n.owner);

// name: fact_words
// The words of facts, as graphmem split them; gm_scope tells the group.
CREATE FULLTEXT INDEX gm_fact_words IF NOT EXISTS FOR ()-[r:RELATES_TO]-() ON EACH [r.gm_words, r.gm_scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};

// name: entity_words
// The words of entities.
CREATE FULLTEXT INDEX gm_entity_words IF NOT EXISTS FOR (n:Entity) ON EACH [n.gm_words, n.gm_scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};

// name: episode_words
// The words of episodes.
CREATE FULLTEXT INDEX gm_episode_words IF NOT EXISTS FOR (n:GraphmemEpisode) ON EACH [n.gm_words, n.gm_scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
