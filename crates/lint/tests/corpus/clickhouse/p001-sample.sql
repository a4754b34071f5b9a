-- form: script
-- expect: none
-- because: ClickHouse samples by the hash of the sampling key, and takes the same rows again
CREATE OR REPLACE TABLE ml.visits ENGINE = MergeTree ORDER BY visit_id AS
SELECT visit_id, url FROM raw.visits SAMPLE 0.1;
