-- form: script
-- expect: none
DROP TABLE IF EXISTS ranking_new;
CREATE TABLE ranking_new LIKE ranking;
INSERT INTO ranking_new (player_id, points, place)
SELECT player_id, points, RANK() OVER (ORDER BY points DESC)
FROM (SELECT player_id, SUM(points) AS points FROM match_result GROUP BY player_id) t;
DROP TABLE IF EXISTS ranking_old;
RENAME TABLE ranking TO ranking_old, ranking_new TO ranking;
