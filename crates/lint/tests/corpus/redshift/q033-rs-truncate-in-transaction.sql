-- form: script
-- expect: OM311 error `TRUNCATE TABLE rpt.order_margin`
-- expect: OM312 error `TRUNCATE TABLE rpt.order_margin`
-- because: TRUNCATE commits at once in Redshift, so if the INSERT fails the report stays empty despite the BEGIN. Each interval's run, and each backfill, wipes all other intervals and leaves only its own.
BEGIN;

TRUNCATE TABLE rpt.order_margin;

INSERT INTO rpt.order_margin
  (order_id, order_date, store_id, net_sales, cogs, margin_pct)
SELECT o.order_id,
       o.order_date,
       o.store_id,
       SUM(l.net_amount),
       SUM(l.unit_cost * l.qty),
       CASE WHEN SUM(l.net_amount) = 0 THEN NULL
            ELSE (SUM(l.net_amount) - SUM(l.unit_cost * l.qty)) / SUM(l.net_amount)
       END
FROM sales.orders AS o
JOIN sales.order_line AS l
  ON l.order_id = o.order_id
WHERE o.order_date >= '{{ data_interval_start | ds }}'
  AND o.order_date <  '{{ data_interval_end | ds }}'
GROUP BY o.order_id, o.order_date, o.store_id;

COMMIT;
