-- form: script
-- expect: none
DROP TABLE IF EXISTS hive.tmp.experiment_metrics;
CREATE TABLE hive.tmp.experiment_metrics AS
SELECT a.variant, count(DISTINCT a.user_id) AS users, count(b.booking_id) AS bookings
FROM hive.core.assignment a
LEFT JOIN hive.core.booking b
  ON b.user_id = a.user_id AND b.booked_at >= a.assigned_at AND b.booked_at < TIMESTAMP '{{ end }}'
WHERE a.experiment = 'search_rank_8'
GROUP BY a.variant;
