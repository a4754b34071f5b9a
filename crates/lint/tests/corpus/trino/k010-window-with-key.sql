-- form: script
-- expect: none
CREATE OR REPLACE TABLE iceberg.mart.account_last AS
SELECT account_no, balance, booked_at
FROM (
    SELECT account_no, balance, booked_at,
           row_number() OVER (PARTITION BY account_no ORDER BY booked_at DESC, entry_id DESC) AS rn
    FROM iceberg.core.entry
) WHERE rn = 1
