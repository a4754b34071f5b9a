-- form: script
-- expect: none
CREATE TEMP FUNCTION clean_host(u STRING) AS (
  REGEXP_REPLACE(LOWER(NET.HOST(u)), r'^www\.', '')
);

CREATE OR REPLACE TABLE seo.host_links AS
SELECT clean_host(source_url) AS host, COUNT(*) AS links, COUNT(DISTINCT target_url) AS targets
FROM seo.link
GROUP BY host;
