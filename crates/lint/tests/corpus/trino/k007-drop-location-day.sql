-- form: script
-- expect: none
CREATE TABLE IF NOT EXISTS iceberg.gold.vpc_day (
    account_id varchar NOT NULL,
    bytes bigint,
    day date NOT NULL
)
WITH (partitioning = ARRAY['day']);

MERGE INTO iceberg.gold.vpc_day t
USING (
    SELECT account_id, day, sum(bytes) AS bytes
    FROM iceberg.silver.vpc_flow
    WHERE day = DATE '{{ ds }}'
    GROUP BY account_id, day
) s
ON t.account_id = s.account_id AND t.day = s.day
WHEN MATCHED THEN UPDATE SET bytes = s.bytes
WHEN NOT MATCHED THEN INSERT (account_id, bytes, day) VALUES (s.account_id, s.bytes, s.day)
