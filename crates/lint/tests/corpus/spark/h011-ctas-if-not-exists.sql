-- form: script
-- expect: OM314 error `CREATE TABLE IF NOT EXISTS gold.dim_region`
CREATE TABLE IF NOT EXISTS gold.dim_region
USING DELTA
AS SELECT DISTINCT region_code, region_name FROM silver.store;
