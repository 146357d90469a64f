// name: episode_by_id
// Episodes of any group: their words are asked for by id alone.
CREATE INDEX gm_episode_id IF NOT EXISTS FOR (n:GraphmemEpisode) ON (n.id);
