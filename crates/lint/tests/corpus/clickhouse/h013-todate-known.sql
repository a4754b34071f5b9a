-- form: script
-- expect: OM109 warning `toDate(opened_at)`
CREATE TABLE IF NOT EXISTS raw.door (door_no UInt32, opened_at DateTime) ENGINE = MergeTree ORDER BY (door_no, opened_at);
CREATE OR REPLACE TABLE mart.door_day
ENGINE = MergeTree ORDER BY (door_no, day) AS
SELECT door_no, toDate(opened_at) AS day, count() AS openings
FROM raw.door
GROUP BY door_no, day;
