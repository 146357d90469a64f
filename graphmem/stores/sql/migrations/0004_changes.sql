-- What began and what ended to be believed, and in the world, by when: most rows are open and in no index of ends.
CREATE INDEX fact_begun ON fact (grp, created_at);
CREATE INDEX fact_ended ON fact (grp, expired_at) WHERE expired_at < 4611686018427387904;
CREATE INDEX fact_over ON fact (grp, invalid_at) WHERE invalid_at < 4611686018427387904;
CREATE INDEX citation_begun ON citation (grp, created_at);
CREATE INDEX citation_ended ON citation (grp, expired_at) WHERE expired_at < 4611686018427387904;
CREATE INDEX entity_version_begun ON entity_version (grp, created_at);
CREATE INDEX entity_version_ended ON entity_version (grp, expired_at) WHERE expired_at < 4611686018427387904;
CREATE INDEX episode_written ON episode (grp, created_at);
CREATE INDEX operation_written ON operation (grp, created_at);
