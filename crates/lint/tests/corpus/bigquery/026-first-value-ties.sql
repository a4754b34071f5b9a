-- form: script
-- expect: OM201 warning `FIRST_VALUE(page_path) OVER (PARTITION BY session_id ORDER BY hit_time)`
CREATE OR REPLACE TABLE mart.session_landing AS
SELECT DISTINCT
  session_id,
  FIRST_VALUE(page_path) OVER (PARTITION BY session_id ORDER BY hit_time) AS landing_page
FROM raw.hits;
