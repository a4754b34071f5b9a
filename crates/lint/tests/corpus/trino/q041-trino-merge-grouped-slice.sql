-- form: script
-- expect: none
-- because: Source is unique by GROUP BY on exactly the ON columns, the slice day is part of the key (so no stale overwrite), nulls are filtered or impossible, picks are total and the array is sorted; the clock is an audit column.
MERGE INTO iceberg.mart.sensor_day AS t
USING (
  SELECT
    r.site_id,
    r.sensor_id,
    r.reading_day,
    count(*)                                                     AS n,
    max_by(r.status, ROW(r.reading_no, r.gateway_no))            AS last_status,
    array_join(array_sort(array_agg(DISTINCT r.alarm_code)), ',') AS alarm_codes
  FROM iceberg.raw.reading AS r      -- key: site_id, sensor_id, reading_day, reading_no, gateway_no
  WHERE r.reading_day >= DATE '{{ params.start }}'
    AND r.reading_day <  DATE '{{ params.end }}'
    AND r.site_id IS NOT NULL
    AND r.sensor_id IS NOT NULL
  GROUP BY r.site_id, r.sensor_id, r.reading_day
) AS s
ON  t.site_id = s.site_id
AND t.sensor_id = s.sensor_id
AND t.reading_day = s.reading_day
WHEN MATCHED THEN UPDATE SET
  n = s.n,
  last_status = s.last_status,
  alarm_codes = s.alarm_codes,
  merged_at = current_timestamp
WHEN NOT MATCHED THEN INSERT
  (site_id, sensor_id, reading_day, n, last_status, alarm_codes, merged_at)
VALUES
  (s.site_id, s.sensor_id, s.reading_day, s.n, s.last_status, s.alarm_codes, current_timestamp);
