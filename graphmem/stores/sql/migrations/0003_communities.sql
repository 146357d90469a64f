-- Communities of entities, found level by level. `facts` are the uuids of the fact versions that name and summary tell of.
CREATE TABLE community (
    n INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    id TEXT NOT NULL,
    grp INTEGER NOT NULL REFERENCES grp (n),
    level INTEGER NOT NULL,
    parent TEXT,
    name TEXT NOT NULL,
    summary TEXT NOT NULL,
    facts TEXT NOT NULL,
    attributes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expired_at INTEGER NOT NULL
);
CREATE INDEX community_by_id ON community (id);
CREATE INDEX community_by_group ON community (grp, expired_at);

-- Which community an entity, by row number, belongs to on a level.
CREATE TABLE member (
    entity INTEGER NOT NULL REFERENCES entity (n),
    level INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expired_at INTEGER NOT NULL,
    community TEXT NOT NULL,
    grp INTEGER NOT NULL REFERENCES grp (n),
    PRIMARY KEY (entity, level, created_at)
) WITHOUT ROWID;
CREATE INDEX member_by_community ON member (community, expired_at);
CREATE INDEX member_by_group ON member (grp, expired_at);
