-- form: script
-- expect: OM403 error `p.received_at >= :'from' AND p.received_at < :'to'`
BEGIN;
DELETE FROM mart.payment WHERE paid_at >= :'from' AND paid_at < :'to';
INSERT INTO mart.payment (payment_id, paid_at, amount)
SELECT p.payment_id, p.paid_at, p.amount
FROM raw.payment p
WHERE p.received_at >= :'from' AND p.received_at < :'to';
COMMIT;
