-- form: script
-- expect: OM407 error `lag(ended_at) OVER (PARTITION BY vehicle_id ORDER BY started_at, session_id)`
-- expect: OM407 error `lag(ended_at) OVER (PARTITION BY vehicle_id ORDER BY started_at, session_id)`
-- because: only one day is read, the first session of each vehicle has no predecessor and depends on the chunk size.
-- time between two charging sessions of a vehicle; widget: run_date
INSERT INTO fleet.charging_gap
REPLACE WHERE session_date = DATE '${run_date}'
WITH s AS (
  SELECT
    session_date,
    vehicle_id,
    session_id,
    started_at,
    ended_at,
    kwh
  FROM fleet.charging_session
  WHERE session_date = DATE '${run_date}'
)
SELECT
  session_date,
  vehicle_id,
  session_id,
  kwh,
  started_at,
  lag(ended_at) OVER (PARTITION BY vehicle_id ORDER BY started_at, session_id) AS prev_ended_at,
  unix_timestamp(started_at)
    - unix_timestamp(lag(ended_at) OVER (PARTITION BY vehicle_id ORDER BY started_at, session_id)) AS gap_s
FROM s;
