-- form: script
-- expect: none
DROP TABLE IF EXISTS hive.tmp.top_hosts;

CREATE TABLE hive.tmp.top_hosts
WITH (format = 'PARQUET') AS
WITH per_host AS (
    SELECT url_extract_host(url) AS host, count(*) AS hits
    FROM hive.raw.requests
    GROUP BY url_extract_host(url)
)
SELECT host, hits, rank() OVER (ORDER BY hits DESC) AS place
FROM per_host;
