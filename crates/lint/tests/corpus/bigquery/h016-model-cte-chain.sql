-- form: model
-- expect: none
/* oncemore
kind: slice
interval: day
time: played_at
key: [play_id]
*/
WITH plays AS (
  SELECT play_id, track_id, played_at, ms_played
  FROM raw.play
  WHERE played_at >= :interval_start AND played_at < :interval_end
),
long_plays AS (
  SELECT play_id, track_id, played_at, ms_played FROM plays WHERE ms_played >= 30000
)
SELECT p.play_id, p.played_at, t.artist, SAFE_DIVIDE(p.ms_played, 1000) AS seconds
FROM long_plays AS p
LEFT JOIN ref.track AS t ON t.track_id = p.track_id
