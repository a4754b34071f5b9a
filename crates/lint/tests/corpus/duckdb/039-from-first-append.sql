-- form: script
-- expect: OM301 error `INSERT INTO song_play_day`
INSERT INTO song_play_day BY NAME
FROM raw.plays
SELECT play_day, song_id, count(*) AS plays
WHERE play_day = $day
GROUP BY play_day, song_id;
