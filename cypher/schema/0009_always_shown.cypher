// name: always_shown
// Episodes that nobody ever forgot say so beside the list of when they were visible, which takes far longer to read.
MATCH (n:GraphmemEpisode) WHERE size(n.shown) = 4 AND n.shown[1] = 4611686018427387904 AND n.shown[3] = 4611686018427387904 AND n.gm_from IS NULL
CALL (n) { SET n.gm_from = n.shown[0], n.gm_shown = n.shown[2] } IN TRANSACTIONS OF 10000 ROWS;
