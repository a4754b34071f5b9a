-- form: script
-- expect: OM202 error `ROW_NUMBER() OVER (PARTITION BY SensorNo, TakenAt ORDER BY (SELECT 1))`
WITH d AS (SELECT ReadingId, ROW_NUMBER() OVER (PARTITION BY SensorNo, TakenAt ORDER BY (SELECT 1)) AS rn FROM raw.Reading WHERE TakenDay = @Day)
DELETE FROM d WHERE rn > 1;
