-- form: script
-- expect: none
MERGE INTO silver.product AS t
USING (
    SELECT product_id, title, price
    FROM (
        SELECT *, row_number() OVER (PARTITION BY product_id ORDER BY _commit_version DESC, _row_id DESC) AS rn
        FROM bronze.product_changes
    )
    WHERE rn = 1
) AS s
ON t.product_id = s.product_id
WHEN MATCHED THEN UPDATE SET t.title = s.title, t.price = s.price
WHEN NOT MATCHED THEN INSERT (product_id, title, price) VALUES (s.product_id, s.title, s.price);
