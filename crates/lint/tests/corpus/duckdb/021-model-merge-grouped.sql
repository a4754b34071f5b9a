-- form: model
-- expect: none
/* oncemore
kind: merge
interval: day
time: updated_at
key: [customer_id]
*/
SELECT customer_id, max(updated_at) AS updated_at, max(city) AS city
FROM raw.customers
WHERE updated_at >= :interval_start AND updated_at < :interval_end
GROUP BY customer_id
