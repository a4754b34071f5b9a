-- form: script
-- expect: none
-- trailing 7 days, but exactly one output day: @day
BEGIN TRANSACTION;

DELETE FROM `fleet.driver_score` WHERE score_day = @day;

INSERT INTO `fleet.driver_score` (score_day, driver_id, trips, harsh_brakes, last_vehicle)
SELECT
  @day AS score_day,
  t.driver_id,
  COUNT(*),
  SUM(t.harsh_brakes),
  ARRAY_AGG(t.vehicle_id ORDER BY t.ended_at DESC, t.trip_id DESC LIMIT 1)[SAFE_OFFSET(0)]
FROM `fleet.trip` AS t        -- one row per trip_id
WHERE t.trip_date >  DATE_SUB(@day, INTERVAL 7 DAY)
  AND t.trip_date <= @day
  AND t.driver_id IS NOT NULL
GROUP BY t.driver_id;

COMMIT TRANSACTION;

ASSERT (SELECT COUNT(*) FROM `fleet.driver_score` WHERE score_day = @day) > 0
  AS 'no driver scores for the day';
