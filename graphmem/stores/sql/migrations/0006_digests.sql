-- By which a line of the log that was changed is told; those that were there have none.
ALTER TABLE episode ADD COLUMN digest TEXT;
ALTER TABLE operation ADD COLUMN digest TEXT;
