-- form: script
-- expect: OM309 error `plays = plays + VALUES(plays)`
INSERT INTO track_stat (track_id, stat_month, plays, last_played)
SELECT track_id, DATE_FORMAT(played_at, '%Y-%m-01'), COUNT(*), MAX(played_at)
FROM play_log
WHERE played_at >= ? AND played_at < ?
GROUP BY track_id, DATE_FORMAT(played_at, '%Y-%m-01')
ON DUPLICATE KEY UPDATE
    plays = plays + VALUES(plays),
    last_played = GREATEST(last_played, VALUES(last_played));
