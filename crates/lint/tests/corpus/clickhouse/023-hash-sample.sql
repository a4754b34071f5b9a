-- form: script
-- expect: none
CREATE OR REPLACE TABLE qa.trace_tenth
ENGINE = MergeTree ORDER BY trace_id
AS
SELECT trace_id, service, duration_ms
FROM qa.trace
WHERE cityHash64(trace_id) % 10 = 0 AND day = {day:Date};
