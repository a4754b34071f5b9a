-- form: script
-- expect: none
CREATE TABLE IF NOT EXISTS logs.status_minute
(
    minute DateTime,
    status UInt16,
    hits UInt64
)
ENGINE = SummingMergeTree
ORDER BY (minute, status);

CREATE MATERIALIZED VIEW IF NOT EXISTS logs.status_minute_mv TO logs.status_minute AS
SELECT toStartOfMinute(ts) AS minute, status, count() AS hits
FROM logs.nginx
GROUP BY minute, status;
