-- The first schema. Instants are integer microseconds since 1970 UTC; an open start is -2^62, an open end 2^62, so that one
-- comparison decides. `grp` is a group's row number. Rows that searches read carry `changed`, the number of the commit that
-- last touched them: caches in memory, also of other processes, catch up by it.

-- `change` counts commits; `epoch` counts commits that removed rows, after which caches are built anew.
CREATE TABLE state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    change INTEGER NOT NULL,
    epoch INTEGER NOT NULL
);
INSERT INTO state (id, change, epoch) VALUES (1, 0, 0);

CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Recorded answers of models, by the key of what was asked.
CREATE TABLE answer (key TEXT PRIMARY KEY, value TEXT NOT NULL, note TEXT NOT NULL);

-- `seq` and `at` are the head of the group's log.
CREATE TABLE grp (n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL, at INTEGER);

-- ---------------------------------------------------------------- the log

CREATE TABLE episode (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    grp INTEGER NOT NULL REFERENCES grp (n),
    seq INTEGER NOT NULL,
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    reference_time INTEGER NOT NULL,
    created_at INTEGER,
    actor TEXT,
    session TEXT,
    source TEXT,
    zone TEXT NOT NULL,
    attributes TEXT NOT NULL,
    search_text TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (grp, key),
    UNIQUE (grp, seq)
);
CREATE INDEX episode_by_time ON episode (grp, reference_time, seq, id);
CREATE INDEX episode_by_session ON episode (session, reference_time, seq) WHERE session IS NOT NULL;

CREATE TABLE assertion (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    episode INTEGER NOT NULL REFERENCES episode (n),
    position INTEGER NOT NULL,
    source TEXT NOT NULL,
    relation TEXT NOT NULL,
    target TEXT NOT NULL,
    text TEXT NOT NULL,
    kind TEXT NOT NULL,
    start_unit TEXT,
    end_unit TEXT,
    still INTEGER NOT NULL,
    same_as TEXT,
    excludes TEXT NOT NULL,
    span_start INTEGER,
    span_end INTEGER,
    attributes TEXT NOT NULL
);
CREATE INDEX assertion_by_episode ON assertion (episode, position);
CREATE INDEX assertion_by_source ON assertion (source);
CREATE INDEX assertion_by_target ON assertion (target);

-- Which assertions an assertion's `same_as` and `excludes` name.
CREATE TABLE decision (
    named TEXT NOT NULL,
    assertion INTEGER NOT NULL REFERENCES assertion (n),
    PRIMARY KEY (named, assertion)
) WITHOUT ROWID;
CREATE INDEX decision_by_assertion ON decision (assertion);

CREATE TABLE mention (
    n INTEGER PRIMARY KEY,
    episode INTEGER NOT NULL REFERENCES episode (n),
    position INTEGER NOT NULL,
    entity TEXT NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    span_start INTEGER,
    span_end INTEGER,
    attributes TEXT NOT NULL,
    UNIQUE (episode, position)
);
CREATE INDEX mention_by_entity ON mention (entity);

-- Pairs of entities that an episode's text says are one.
CREATE TABLE link (
    n INTEGER PRIMARY KEY,
    episode INTEGER NOT NULL REFERENCES episode (n),
    position INTEGER NOT NULL,
    one TEXT NOT NULL,
    other TEXT NOT NULL
);
CREATE INDEX link_by_episode ON link (episode, position);
CREATE INDEX link_by_one ON link (one);
CREATE INDEX link_by_other ON link (other);

CREATE TABLE operation (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    grp INTEGER NOT NULL REFERENCES grp (n),
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    targets TEXT NOT NULL,
    arguments TEXT NOT NULL,
    created_at INTEGER,
    author TEXT,
    reason TEXT,
    UNIQUE (grp, seq)
);
CREATE TABLE operation_target (
    target TEXT NOT NULL,
    operation INTEGER NOT NULL REFERENCES operation (n),
    PRIMARY KEY (target, operation)
) WITHOUT ROWID;

-- ---------------------------------------------------------------- keys

-- The fact each assertion speaks of now; `fact_id` NULL: of none.
CREATE TABLE fact_key (
    assertion TEXT PRIMARY KEY,
    grp INTEGER NOT NULL REFERENCES grp (n),
    fact_id TEXT,
    relation TEXT,
    source TEXT,
    target TEXT,
    variant TEXT
) WITHOUT ROWID;
CREATE INDEX fact_key_by_fact ON fact_key (fact_id);
CREATE INDEX fact_key_by_source ON fact_key (source, relation);
CREATE INDEX fact_key_by_target ON fact_key (target, relation);

-- ---------------------------------------------------------------- versions

CREATE TABLE fact (
    n INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    fact_id TEXT NOT NULL,
    grp INTEGER NOT NULL REFERENCES grp (n),
    relation TEXT NOT NULL,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    text TEXT NOT NULL,
    valid_at INTEGER NOT NULL,
    invalid_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expired_at INTEGER NOT NULL,
    start_precision TEXT NOT NULL,
    start_origin TEXT NOT NULL,
    end_precision TEXT NOT NULL,
    end_origin TEXT NOT NULL,
    attributes TEXT NOT NULL,
    changed INTEGER NOT NULL
);
CREATE INDEX fact_by_id ON fact (fact_id);
CREATE INDEX fact_by_source ON fact (source, valid_at DESC, uuid, target, expired_at, created_at, invalid_at, grp, relation);
CREATE INDEX fact_by_target ON fact (target, valid_at DESC, uuid, source, expired_at, created_at, invalid_at, grp, relation);
CREATE INDEX fact_by_time ON fact (grp, valid_at, created_at, uuid);
CREATE INDEX fact_by_relation ON fact (relation, valid_at, created_at, uuid);
CREATE INDEX fact_changed ON fact (changed);

CREATE TABLE citation (
    n INTEGER PRIMARY KEY,
    grp INTEGER NOT NULL REFERENCES grp (n),
    fact_id TEXT NOT NULL,
    valid_at INTEGER NOT NULL,
    episode TEXT NOT NULL,
    author TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expired_at INTEGER NOT NULL
);
CREATE INDEX citation_by_fact ON citation (fact_id, valid_at, episode, author);
CREATE INDEX citation_by_episode ON citation (episode);

-- Row numbers for entity ids, as index rows name them.
CREATE TABLE entity (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, grp INTEGER NOT NULL REFERENCES grp (n));

CREATE TABLE entity_version (
    n INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    entity INTEGER NOT NULL REFERENCES entity (n),
    id TEXT NOT NULL,
    grp INTEGER NOT NULL REFERENCES grp (n),
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    type TEXT NOT NULL,
    aliases TEXT NOT NULL,
    attributes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expired_at INTEGER NOT NULL,
    changed INTEGER NOT NULL
);
CREATE INDEX entity_version_by_id ON entity_version (id, created_at);
CREATE INDEX entity_version_by_name ON entity_version (grp, name_key, id);
CREATE INDEX entity_version_changed ON entity_version (changed);

-- Every name of an entity version, as a key.
CREATE TABLE entity_name (
    key TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES entity_version (n),
    PRIMARY KEY (key, version)
) WITHOUT ROWID;

CREATE TABLE mention_version (
    n INTEGER PRIMARY KEY,
    grp INTEGER NOT NULL REFERENCES grp (n),
    mention INTEGER NOT NULL REFERENCES mention (n),
    episode INTEGER NOT NULL REFERENCES episode (n),
    entity TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expired_at INTEGER NOT NULL
);
CREATE INDEX mention_version_by_mention ON mention_version (mention);
CREATE INDEX mention_version_by_episode ON mention_version (episode);
CREATE INDEX mention_version_by_entity ON mention_version (entity, episode);

-- When an episode is visible.
CREATE TABLE visible (
    n INTEGER PRIMARY KEY,
    episode INTEGER NOT NULL REFERENCES episode (n),
    grp INTEGER NOT NULL REFERENCES grp (n),
    created_at INTEGER NOT NULL,
    expired_at INTEGER NOT NULL,
    changed INTEGER NOT NULL
);
CREATE INDEX visible_by_episode ON visible (episode);
CREATE INDEX visible_changed ON visible (changed);

-- ---------------------------------------------------------------- indexes of search

-- The words of a fact version, entity or episode (`kind`, `owner`: its row number). A changed text is a new row, so that
-- caches catch up by row number.
CREATE TABLE words (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    owner INTEGER NOT NULL,
    length INTEGER NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (kind, owner)
);
-- Words arrive as tokens that hold no ASCII other than a-z, 0-9 and '_', which this tokenizer leaves as they are.
CREATE VIRTUAL TABLE word_index USING fts5 (tokens, content = '', columnsize = 0, tokenize = "ascii tokenchars '_'");
CREATE VIRTUAL TABLE word_place USING fts5vocab (word_index, instance);

-- One row per vector: int8 with a scale, read into memory; `exact` beside it keeps the half-precision original.
CREATE TABLE vector (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    owner INTEGER NOT NULL,
    piece INTEGER NOT NULL,
    scale REAL NOT NULL,
    rough BLOB NOT NULL,
    UNIQUE (kind, owner, piece)
);
CREATE TABLE vector_exact (n INTEGER PRIMARY KEY REFERENCES vector (n), halves BLOB NOT NULL);
