-- form: script
-- expect: OM314 error `CREATE TABLE IF NOT EXISTS gold.region_totals`
CREATE TABLE IF NOT EXISTS gold.region_totals
USING delta
AS
SELECT region, SUM(amount) AS amount
FROM silver.sale
GROUP BY region;
