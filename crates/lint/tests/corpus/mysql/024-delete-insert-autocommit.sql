-- form: script
-- expect: OM310 error `DELETE FROM score_day`
DELETE FROM score_day WHERE day = @day;
INSERT INTO score_day (day, player_id, score)
SELECT @day, player_id, SUM(points)
FROM match_result
WHERE match_day = @day
GROUP BY player_id;
