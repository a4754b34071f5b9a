-- form: script
-- expect: none
CREATE OR REPLACE TABLE mart.device_now ENGINE = MergeTree ORDER BY device_id AS
SELECT device_id,
       argMax(firmware, (reported_at, report_id)) AS firmware,
       argMax(battery, (reported_at, report_id))  AS battery
FROM raw.device_report
GROUP BY device_id;
