-- form: script
-- expect: none
CREATE TABLE IF NOT EXISTS shop_raw.refunds (
  refund_id bigint PRIMARY KEY,
  refunded_at timestamptz NOT NULL,
  cents bigint NOT NULL
);
BEGIN;
DELETE FROM shop.refund_day WHERE day = :day;
INSERT INTO shop.refund_day (day, refunds, cents)
SELECT (refunded_at AT TIME ZONE 'UTC')::date, count(*), sum(cents)
FROM shop_raw.refunds
WHERE (refunded_at AT TIME ZONE 'UTC')::date = :day
GROUP BY (refunded_at AT TIME ZONE 'UTC')::date;
COMMIT;
