-- form: script
-- expect: OM204 warning `anyLast(status)`
CREATE OR REPLACE TABLE ops.order_state
ENGINE = MergeTree ORDER BY order_id AS
SELECT order_id, anyLast(status) AS status, max(changed_at) AS changed_at
FROM ops.order_log
GROUP BY order_id;
