-- Communities are found by words and vectors: `changed` is the number of the commit that last touched a version.
ALTER TABLE community ADD COLUMN changed INTEGER NOT NULL DEFAULT 1;
CREATE INDEX community_changed ON community (changed);
