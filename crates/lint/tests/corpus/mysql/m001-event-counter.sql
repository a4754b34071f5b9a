-- form: script
-- expect: OM309 error `p.score = p.score + d.points`
UPDATE player p
JOIN (
    SELECT player_id, SUM(points) AS points
    FROM match_result
    WHERE played_on = @day
    GROUP BY player_id
) d ON d.player_id = p.player_id
SET p.score = p.score + d.points;
