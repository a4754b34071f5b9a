-- form: script
-- expect: OM101 error `NOW()`
CREATE EVENT IF NOT EXISTS session_hour_rollup
ON SCHEDULE EVERY 1 HOUR
DO
  REPLACE INTO session_hour (hour_start, sessions)
  SELECT DATE_FORMAT(started_at, '%Y-%m-%d %H:00:00'), COUNT(*)
  FROM session_log
  WHERE started_at >= NOW() - INTERVAL 2 HOUR
  GROUP BY DATE_FORMAT(started_at, '%Y-%m-%d %H:00:00');
