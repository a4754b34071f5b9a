-- form: script
-- expect: OM102 error `current_date()`
SET spark.sql.sources.partitionOverwriteMode=dynamic;
INSERT OVERWRITE TABLE landing.quote PARTITION (load_dt)
SELECT symbol, price, quoted_at, current_date() AS load_dt
FROM staging.quote;
