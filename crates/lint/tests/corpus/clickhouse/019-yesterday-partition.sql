-- form: script
-- expect: OM101 error `yesterday()`
-- expect: OM301 error `INSERT INTO billing.usage_day`
INSERT INTO billing.usage_day (day, tenant, gb)
SELECT day, tenant, sum(bytes) / 1e9
FROM billing.usage
WHERE day = yesterday()
GROUP BY day, tenant;
