-- form: script
-- expect: OM107 error `USING SAMPLE 1000 ROWS`
CREATE OR REPLACE TABLE preview AS
SELECT order_id, amount
FROM orders
USING SAMPLE 1000 ROWS;
