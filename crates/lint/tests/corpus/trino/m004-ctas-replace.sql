-- form: script
-- expect: none
CREATE OR REPLACE TABLE lake.gold.host_inventory
WITH (format = 'PARQUET', sorted_by = ARRAY['host']) AS
SELECT host,
       max_by(os, (seen_at, scan_id)) AS os,
       max(seen_at) AS last_seen,
       array_sort(array_agg(DISTINCT service)) AS services
FROM lake.silver.scan
GROUP BY host;
