// name: always_shown
// Episodes that nobody ever forgot say so beside the list of when they were visible, which takes far longer to read; those that a
// process of an older schema forgot meanwhile do not. Each is locked before its list is read: somebody may be forgetting it.
MATCH (n:GraphmemEpisode)
WITH n, size(n.shown) = 4 AND n.shown[1] = 4611686018427387904 AND n.shown[3] = 4611686018427387904 AS always
WHERE always = (n.gm_from IS NULL)
CALL (n) {
  SET n.gm_shown = null
  WITH n, size(n.shown) = 4 AND n.shown[1] = 4611686018427387904 AND n.shown[3] = 4611686018427387904 AS always
  SET n.gm_from = CASE WHEN always THEN n.shown[0] END, n.gm_shown = CASE WHEN always THEN n.shown[2] END
} IN TRANSACTIONS OF 10000 ROWS;
