-- form: script
-- expect: OM201 warning `ROW_NUMBER() OVER (PARTITION BY device_id, reading_ts ORDER BY ingested_at DESC)`
MERGE INTO silver.sensor AS target
USING (
  WITH numbered AS (
    SELECT device_id, reading_ts, value, unit,
           ROW_NUMBER() OVER (PARTITION BY device_id, reading_ts ORDER BY ingested_at DESC) AS rn
    FROM bronze.sensor
  )
  SELECT device_id, reading_ts, value, unit FROM numbered WHERE rn = 1
) AS source
ON source.device_id = target.device_id AND source.reading_ts = target.reading_ts
WHEN MATCHED THEN UPDATE SET target.value = source.value, target.unit = source.unit
WHEN NOT MATCHED THEN INSERT (device_id, reading_ts, value, unit)
VALUES (source.device_id, source.reading_ts, source.value, source.unit);
