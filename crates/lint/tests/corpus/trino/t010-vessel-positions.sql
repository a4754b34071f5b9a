-- form: script
-- expect: OM310 error `DELETE FROM iceberg.ais.position_clean`
-- expect: OM402 warning `pos_ts BETWEEN TIMESTAMP '{{ data_interval_start.strftime("%Y-%m-%d %H:00:00") } …`
-- because: delete and insert are two autocommitted statements; a crash between them leaves the hour empty closed range on a timestamp: a position exactly on the hour belongs to two intervals, and a rerun deletes the neighbour's row
-- AIS positions, hourly container. Runs on trino (iceberg), autocommit
DELETE FROM iceberg.ais.position_clean
WHERE  pos_ts BETWEEN TIMESTAMP '{{ data_interval_start.strftime("%Y-%m-%d %H:00:00") }}'
                  AND TIMESTAMP '{{ data_interval_end.strftime("%Y-%m-%d %H:00:00") }}';

INSERT INTO iceberg.ais.position_clean
       (mmsi, pos_ts, lat, lon, sog, nav_status)
SELECT mmsi,
       pos_ts,
       round(lat, 5),
       round(lon, 5),
       sog,
       coalesce(nav_status, 15)
FROM   iceberg.ais.position_raw
WHERE  pos_ts BETWEEN TIMESTAMP '{{ data_interval_start.strftime("%Y-%m-%d %H:00:00") }}'
                  AND TIMESTAMP '{{ data_interval_end.strftime("%Y-%m-%d %H:00:00") }}'
  AND  lat BETWEEN -90 AND 90
  AND  lon BETWEEN -180 AND 180
  AND  mmsi BETWEEN 200000000 AND 799999999
GROUP BY mmsi, pos_ts, round(lat, 5), round(lon, 5), sog, coalesce(nav_status, 15);
