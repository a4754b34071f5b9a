-- form: script
-- expect: OM204 warning `ANY_VALUE(name)`
MERGE mart.dim_shop t USING (SELECT shop_id, ANY_VALUE(name) AS name FROM raw.shop WHERE day = @day AND shop_id IS NOT NULL GROUP BY shop_id) s
ON t.shop_id = s.shop_id
WHEN MATCHED THEN UPDATE SET name = s.name
WHEN NOT MATCHED THEN INSERT ROW;
