-- form: script
-- expect: none
-- because: DISTINCT ON ends in the primary key, the upsert assigns and is guarded by >= on the same total order so an old backfill cannot beat a newer state; now() is only a column default of the raw table.
CREATE TABLE IF NOT EXISTS iot.readings (
  reading_id  bigint PRIMARY KEY,
  device_id   integer     NOT NULL,
  reported_at timestamp   NOT NULL,   -- UTC
  firmware    text,
  battery_pct smallint,
  received_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS iot.device_state (
  device_id   integer PRIMARY KEY,
  reading_id  bigint      NOT NULL,
  reported_at timestamp   NOT NULL,
  firmware    text,
  battery_pct smallint
);

INSERT INTO iot.device_state AS d
       (device_id, reading_id, reported_at, firmware, battery_pct)
SELECT DISTINCT ON (r.device_id)
       r.device_id, r.reading_id, r.reported_at, r.firmware, r.battery_pct
  FROM iot.readings AS r
 WHERE r.reported_at >= :'run_start'
   AND r.reported_at <  :'run_end'
 ORDER BY r.device_id, r.reported_at DESC, r.reading_id DESC
    ON CONFLICT (device_id) DO UPDATE
   SET reading_id  = EXCLUDED.reading_id,
       reported_at = EXCLUDED.reported_at,
       firmware    = EXCLUDED.firmware,
       battery_pct = EXCLUDED.battery_pct
 WHERE (EXCLUDED.reported_at, EXCLUDED.reading_id) >= (d.reported_at, d.reading_id);
