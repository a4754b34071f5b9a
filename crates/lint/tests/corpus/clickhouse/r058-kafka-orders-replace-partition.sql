-- form: script
-- expect: none
-- because: The day is built in a new staging table and swapped in by REPLACE PARTITION, which is atomic and overwrites the same day; the zone of toDate is explicit.
-- one run = one UTC day, parameters: day (Date), part (String, yyyymmdd)
CREATE OR REPLACE TABLE shop.order_hour_stage AS shop.order_hour;

INSERT INTO shop.order_hour_stage
    (day, hour, country, orders, revenue, payment_kinds)
SELECT
    toDate(created_at, 'UTC')                       AS day,
    toHour(created_at, 'UTC')                       AS hour,
    country,
    uniqExact(order_id)                             AS orders,
    sum(total)                                      AS revenue,   -- Decimal(18, 2)
    arraySort(groupUniqArray(payment_kind))         AS payment_kinds
FROM shop.order_raw
WHERE created_at >= toDateTime({day:Date}, 'UTC')
  AND created_at <  toDateTime({day:Date} + 1, 'UTC')
GROUP BY day, hour, country;

ALTER TABLE shop.order_hour REPLACE PARTITION {part:String} FROM shop.order_hour_stage;

DROP TABLE IF EXISTS shop.order_hour_stage;
