-- form: script
-- expect: none
REPLACE INTO mart.shop_day (day, shop_id, amount) SELECT day, shop_id, SUM(amount) FROM raw.sale WHERE day = '{{ ds }}' GROUP BY day, shop_id;
