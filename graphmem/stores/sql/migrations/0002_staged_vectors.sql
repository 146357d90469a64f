-- Vectors of another embedder, made one after another while those in use serve; one transaction puts them in their place.
CREATE TABLE staged_vector (
    n INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    owner INTEGER NOT NULL,
    piece INTEGER NOT NULL,
    scale REAL NOT NULL,
    rough BLOB NOT NULL,
    halves BLOB NOT NULL,
    UNIQUE (kind, owner, piece)
);
