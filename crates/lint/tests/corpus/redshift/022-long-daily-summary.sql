-- form: script
-- expect: OM310 error `DELETE FROM mart.product_day`
-- daily product summary, run by the scheduler with {{ ds }}
CREATE TEMP TABLE tmp_views AS
SELECT product_id, COUNT(*) AS views, COUNT(DISTINCT visitor_id) AS visitors
FROM ods.product_view
WHERE view_date = '{{ ds }}'
GROUP BY product_id;

CREATE TEMP TABLE tmp_sales AS
SELECT l.product_id, SUM(l.qty) AS qty, SUM(l.amount) AS amount
FROM ods.order_line l
JOIN ods.order_head h ON h.order_id = l.order_id
WHERE h.order_date = '{{ ds }}' AND h.state <> 'cancelled'
GROUP BY l.product_id;

DELETE FROM mart.product_day WHERE day = '{{ ds }}';

INSERT INTO mart.product_day (day, product_id, views, visitors, qty, amount)
SELECT '{{ ds }}', p.product_id, NVL(v.views, 0), NVL(v.visitors, 0), NVL(s.qty, 0), NVL(s.amount, 0)
FROM ods.product p
LEFT JOIN tmp_views v ON v.product_id = p.product_id
LEFT JOIN tmp_sales s ON s.product_id = p.product_id
WHERE v.product_id IS NOT NULL OR s.product_id IS NOT NULL;

ANALYZE mart.product_day;
