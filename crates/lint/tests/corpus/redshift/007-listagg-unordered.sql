-- form: script
-- expect: OM205 error `LISTAGG(l.sku, '|')`
DROP TABLE IF EXISTS mart.basket_text;
CREATE TABLE mart.basket_text
DISTKEY (order_id)
AS
SELECT l.order_id,
       LISTAGG(l.sku, '|') AS skus,
       SUM(l.qty) AS items
FROM ods.order_line l
GROUP BY l.order_id;
