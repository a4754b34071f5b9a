-- form: script
-- expect: OM101 error `CURRENT_DATE('Asia/Tokyo')`
-- because: A failed day repaired later, or a retry after midnight in Tokyo, rebuilds the day before the clock's day and never the day that was asked for.
DECLARE target_day DATE DEFAULT DATE_SUB(CURRENT_DATE('Asia/Tokyo'), INTERVAL 1 DAY);
DECLARE n_rows INT64;

BEGIN TRANSACTION;

DELETE FROM `game_dwh.player_day`
WHERE play_day = target_day;

INSERT INTO `game_dwh.player_day`
  (play_day, player_id, sessions, minutes_played, coins_spent)
SELECT
  DATE(started_at, 'Asia/Tokyo') AS play_day,
  player_id,
  COUNT(*) AS sessions,
  SUM(minutes) AS minutes_played,
  SUM(coins) AS coins_spent
FROM `game_raw.session`
WHERE started_at >= TIMESTAMP(target_day, 'Asia/Tokyo')
  AND started_at <  TIMESTAMP(DATE_ADD(target_day, INTERVAL 1 DAY), 'Asia/Tokyo')
GROUP BY play_day, player_id;

SET n_rows = @@row_count;
COMMIT TRANSACTION;

SELECT FORMAT('%t: %d rows', target_day, n_rows);
