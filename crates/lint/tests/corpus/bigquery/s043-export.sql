-- form: script
-- expect: none
EXPORT DATA OPTIONS (uri = 'gs://out/day/*.parquet', format = 'PARQUET', overwrite = true) AS
SELECT shop_id, SUM(amount) AS amount FROM mart.sale WHERE sale_day = @day GROUP BY shop_id;
