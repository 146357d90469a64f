// name: community_words
// The words of communities.
CREATE FULLTEXT INDEX gm_community_words IF NOT EXISTS FOR (n:GraphmemCommunity) ON EACH [n.gm_words, n.gm_scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};

// name: community_version_by_uuid
// Versions of communities of any group: their words and vectors are asked for by uuid alone.
CREATE INDEX gm_community_uuid IF NOT EXISTS FOR (n:GraphmemCommunity) ON (n.uuid);

// name: community_counts
// Groups that were there before count the words and vectors of communities from now on.
MATCH (g:GraphmemGroup) WHERE g.community_rows IS NULL
SET g.community_rows = 0, g.community_words = 0, g.community_vectors = 0;
