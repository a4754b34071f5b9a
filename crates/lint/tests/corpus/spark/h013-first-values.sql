-- form: script
-- expect: OM204 error `first(s.country)`
-- expect: OM204 error `last(s.app_version)`
CREATE OR REPLACE TABLE gold.session_profile AS
SELECT s.session_id,
       first(s.country)    AS country,
       last(s.app_version) AS app_version,
       count(*)            AS hits
FROM silver.hit s
GROUP BY s.session_id;
