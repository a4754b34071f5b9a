-- form: script
-- expect: OM109 warning `placed_at::date`
-- because: the column is declared with a zone; the day moves with the session's
CREATE TABLE IF NOT EXISTS shop_raw.orders (
  order_id bigint PRIMARY KEY,
  placed_at timestamptz NOT NULL,
  cents bigint NOT NULL
);
BEGIN;
DELETE FROM shop.order_day WHERE day = :day;
INSERT INTO shop.order_day (day, orders, cents)
SELECT :day, count(*), sum(cents)
FROM shop_raw.orders
WHERE placed_at::date = :day;
COMMIT;
