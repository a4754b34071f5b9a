-- form: script
-- expect: none
OPTIMIZE silver.sale ZORDER BY (store_id);
VACUUM silver.sale RETAIN 168 HOURS;
ANALYZE TABLE silver.sale COMPUTE STATISTICS;
