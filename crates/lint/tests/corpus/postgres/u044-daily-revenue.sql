-- form: script
-- expect: OM310 error `DELETE FROM finance.daily_revenue`
-- expect: OM101 error `current_date`
-- expect: OM101 error `current_date`
-- because: psql runs in autocommit, a crash between the two statements leaves yesterday empty. yesterday by the wall clock, a re-run in June computes June.
-- finance / daily revenue by country
-- owner: marc.d    cron on etl02, 04:10 CET: psql -f daily_revenue.sql
-- 2023-11 switched to net amounts (FIN-882)
\set ON_ERROR_STOP on

DELETE FROM finance.daily_revenue
 WHERE day = current_date - 1;

INSERT INTO finance.daily_revenue (day, country_code, orders, net_cents)
SELECT o.order_day,
       o.country_code,
       count(DISTINCT o.order_id),
       sum(o.gross_cents - o.vat_cents)
  FROM shop.orders o
 WHERE o.order_day = current_date - 1
   AND o.status <> 'CANCELLED'
 GROUP BY o.order_day, o.country_code;

ANALYZE finance.daily_revenue;
