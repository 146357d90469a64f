// name: store_key
// One node that says which schema this is, also where two processes open a new database at once.
CREATE CONSTRAINT gm_store IF NOT EXISTS FOR (n:GraphmemStore) REQUIRE n.id IS UNIQUE;
