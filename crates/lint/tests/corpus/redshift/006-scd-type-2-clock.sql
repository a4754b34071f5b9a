-- form: script
-- expect: OM316 error `getdate()`
-- expect: OM316 error `getdate()`
-- because: a version begins when the task ran; twice
BEGIN;
CREATE TEMP TABLE changed AS
SELECT s.product_id, s.name, s.category, s.list_price
FROM (SELECT product_id, MAX(name) AS name, MAX(category) AS category, MAX(list_price) AS list_price
      FROM stg.product GROUP BY product_id) s
JOIN dw.dim_product_history d ON d.product_id = s.product_id AND d.valid_to IS NULL
WHERE d.list_price <> s.list_price OR d.category <> s.category;

UPDATE dw.dim_product_history
SET valid_to = getdate()
FROM changed
WHERE dw.dim_product_history.product_id = changed.product_id
  AND dw.dim_product_history.valid_to IS NULL;

INSERT INTO dw.dim_product_history (product_id, name, category, list_price, valid_from, valid_to)
SELECT product_id, name, category, list_price, getdate(), NULL
FROM changed;
COMMIT;
