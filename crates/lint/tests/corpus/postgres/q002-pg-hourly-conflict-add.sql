-- form: script
-- expect: OM309 error `n = r.n + EXCLUDED.n`
-- expect: OM309 error `total_ms = r.total_ms + EXCLUDED.total_ms`
-- because: Running the same window again adds its counts and durations to the stored hour a second time.
BEGIN;

CREATE TEMP TABLE touched ON COMMIT DROP AS
SELECT e.site_id,
       e.event_type,
       e.country,
       e.event_hour,
       count(*)                                    AS n,
       sum(e.duration_ms)                          AS total_ms,
       max(e.event_time)                           AS last_event_at
  FROM web.events AS e
 WHERE e.event_time >= %(window_start)s
   AND e.event_time <  %(window_end)s
 GROUP BY e.site_id, e.event_type, e.country, e.event_hour;

INSERT INTO web.events_hourly AS r
       (site_id, event_type, country, event_hour, n, total_ms, last_event_at)
SELECT site_id, event_type, country, event_hour, n, total_ms, last_event_at
  FROM touched
    ON CONFLICT (site_id, event_type, country, event_hour)
    DO UPDATE
   SET n             = r.n + EXCLUDED.n,
       total_ms      = r.total_ms + EXCLUDED.total_ms,
       last_event_at = greatest(r.last_event_at, EXCLUDED.last_event_at);

COMMIT;
