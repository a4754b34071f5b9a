-- form: script
-- expect: OM401 error `o.ordered_at >= :start_ts`
BEGIN;
DELETE FROM mart.order_fact WHERE ordered_at >= :start_ts AND ordered_at < :end_ts;
INSERT INTO mart.order_fact (order_id, ordered_at, amount)
SELECT o.order_id, o.ordered_at, o.amount
FROM ods.orders o
WHERE o.ordered_at >= :start_ts;
COMMIT;
