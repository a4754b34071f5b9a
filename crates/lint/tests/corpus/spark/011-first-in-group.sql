-- form: script
-- expect: OM204 error `first(city)`
CREATE OR REPLACE TABLE gold.customer_city AS
SELECT customer_id, first(city) AS city, max(updated_at) AS updated_at
FROM silver.address
GROUP BY customer_id;
