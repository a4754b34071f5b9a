-- form: script
-- expect: OM301 error `INSERT INTO rpt.courier_day`
-- airflow: PostgresOperator, params from the dag
DROP TABLE IF EXISTS tmp_delivered;
CREATE TEMP TABLE tmp_delivered AS
SELECT d.courier_id,
       d.delivered_on,
       count(*)                         AS drops,
       sum(d.distance_m)                AS metres
  FROM ops.delivery AS d
 WHERE d.delivered_on = '{{ ds }}'
   AND d.state = 'done'
 GROUP BY d.courier_id, d.delivered_on;

ANALYZE tmp_delivered;

INSERT INTO rpt.courier_day (courier_id, delivered_on, drops, metres, pay_class)
SELECT t.courier_id, t.delivered_on, t.drops, t.metres, c.pay_class
  FROM tmp_delivered AS t
  JOIN ops.courier AS c ON c.courier_id = t.courier_id;
