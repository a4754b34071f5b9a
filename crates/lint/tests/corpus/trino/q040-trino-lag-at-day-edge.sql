-- form: script
-- expect: OM407 error `lag(odometer_m) OVER (PARTITION BY vehicle_id ORDER BY ping_at)`
-- expect: OM407 error `lag(ping_at) OVER (PARTITION BY vehicle_id ORDER BY ping_at)`
-- because: The first ping of each vehicle in an interval has no predecessor, so its leg is NULL with daily runs and a number when two days are backfilled in one run.
-- vehicle_leg is keyed by (vehicle_id, ping_at); pings are unique per vehicle and instant
MERGE INTO iceberg.mart.vehicle_leg AS t
USING (
  SELECT
    vehicle_id,
    ping_at,
    odometer_m - lag(odometer_m) OVER (PARTITION BY vehicle_id ORDER BY ping_at) AS leg_m,
    date_diff('second',
      lag(ping_at) OVER (PARTITION BY vehicle_id ORDER BY ping_at), ping_at)     AS leg_s
  FROM (
    SELECT vehicle_id, ping_at, max(odometer_m) AS odometer_m
    FROM iceberg.raw.ping
    WHERE ping_at >= TIMESTAMP '{{ data_interval_start.strftime("%Y-%m-%d %H:%M:%S") }}'
      AND ping_at <  TIMESTAMP '{{ data_interval_end.strftime("%Y-%m-%d %H:%M:%S") }}'
      AND vehicle_id IS NOT NULL
      AND ping_at IS NOT NULL
    GROUP BY vehicle_id, ping_at
  )
) AS s
ON t.vehicle_id = s.vehicle_id AND t.ping_at = s.ping_at
WHEN MATCHED THEN UPDATE SET leg_m = s.leg_m, leg_s = s.leg_s
WHEN NOT MATCHED THEN INSERT (vehicle_id, ping_at, leg_m, leg_s)
VALUES (s.vehicle_id, s.ping_at, s.leg_m, s.leg_s);
