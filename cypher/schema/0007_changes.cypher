// name: fact_by_begin
// Fact versions by when they began to be believed.
CREATE INDEX gm_fact_from IF NOT EXISTS FOR ()-[r:RELATES_TO]-() ON (r.group_id, r.gm_from);

// name: fact_by_end
// Fact versions by when they ended to be believed.
CREATE INDEX gm_fact_to IF NOT EXISTS FOR ()-[r:RELATES_TO]-() ON (r.group_id, r.gm_to);

// name: fact_by_valid_begin
// Fact versions by when they begin to hold.
CREATE INDEX gm_fact_valid_from IF NOT EXISTS FOR ()-[r:RELATES_TO]-() ON (r.group_id, r.gm_valid_from);

// name: fact_by_valid_end
// Fact versions by when they end to hold.
CREATE INDEX gm_fact_valid_to IF NOT EXISTS FOR ()-[r:RELATES_TO]-() ON (r.group_id, r.gm_valid_to);

// name: citation_by_begin
// Citations by when they began to be believed.
CREATE INDEX gm_citation_from IF NOT EXISTS FOR (n:GraphmemCitation) ON (n.group_id, n.gm_from);

// name: citation_by_end
// Citations by when they ended to be believed.
CREATE INDEX gm_citation_to IF NOT EXISTS FOR (n:GraphmemCitation) ON (n.group_id, n.gm_to);

// name: entity_version_by_begin
// Entity versions by when they began to be believed.
CREATE INDEX gm_entity_from IF NOT EXISTS FOR (n:GraphmemEntity) ON (n.group_id, n.gm_from);

// name: entity_version_by_end
// Entity versions by when they ended to be believed.
CREATE INDEX gm_entity_to IF NOT EXISTS FOR (n:GraphmemEntity) ON (n.group_id, n.gm_to);

// name: episode_by_instant
// Episodes by their system instant.
CREATE INDEX gm_episode_written IF NOT EXISTS FOR (n:GraphmemEpisode) ON (n.group_id, n.created_at);

// name: operation_by_instant
// Operations by their system instant.
CREATE INDEX gm_operation_written IF NOT EXISTS FOR (n:GraphmemOperation) ON (n.group_id, n.created_at);
