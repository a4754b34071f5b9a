-- form: script
-- expect: OM303 error `game.leaderboard`
CREATE OR REPLACE TABLE game.leaderboard
ENGINE = MergeTree ORDER BY player_id
AS
SELECT player_id, sum(points) AS points
FROM
(
    SELECT player_id, points FROM game.leaderboard
    UNION ALL
    SELECT player_id, points FROM game.match_result WHERE day = {day:Date}
)
GROUP BY player_id;
