-- form: script
-- expect: OM301 error `INSERT INTO billing.egress_day`
-- expect: OM101 error `yesterday()`
-- because: A retried insert is a second set of rows that SummingMergeTree adds up, so the tenant is billed double. yesterday() is the clock's day: a missed day cannot be run later, and a retry after midnight bills another day.
CREATE TABLE IF NOT EXISTS billing.egress_day
(
    bill_day  Date,
    tenant    LowCardinality(String),
    region    LowCardinality(String),
    bytes     UInt64,
    requests  UInt64
)
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(bill_day)
ORDER BY (bill_day, tenant, region);

INSERT INTO billing.egress_day (bill_day, tenant, region, bytes, requests)
SELECT
    log_day,
    tenant,
    region,
    sum(bytes_out),
    count()
FROM edge.access_log
WHERE log_day = yesterday()
GROUP BY log_day, tenant, region;
