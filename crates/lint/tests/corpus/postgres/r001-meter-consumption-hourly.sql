-- form: script
-- expect: none
-- because: Delete and insert cover the same hours in one transaction; hour_start is the truncation of a timestamp without time zone, both bounds half-open, now() only stamps an audit column.
-- energy/consumption_hourly.sql
-- psql variables day_start, day_end are handed in by the scheduler (local grid time, no zone)
CREATE TABLE IF NOT EXISTS raw.meter_reading (
    reading_id      bigint        PRIMARY KEY,
    meter_point_id  integer       NOT NULL,
    read_at         timestamp     NOT NULL,   -- grid time, without zone
    kwh_delta       numeric(12,4) NOT NULL,
    quality_flag    text          NOT NULL
);

BEGIN;

DELETE FROM mart.consumption_hourly
 WHERE hour_start >= :'day_start'::timestamp
   AND hour_start <  :'day_end'::timestamp;

INSERT INTO mart.consumption_hourly
    (meter_point_id, hour_start, kwh, samples, worst_quality, refreshed_at)
SELECT r.meter_point_id,
       date_trunc('hour', r.read_at)   AS hour_start,
       sum(r.kwh_delta)                AS kwh,
       count(*)                        AS samples,
       max(r.quality_flag)             AS worst_quality,
       now()                           AS refreshed_at
  FROM raw.meter_reading AS r
 WHERE r.read_at >= :'day_start'::timestamp
   AND r.read_at <  :'day_end'::timestamp
 GROUP BY r.meter_point_id, date_trunc('hour', r.read_at);

COMMIT;
