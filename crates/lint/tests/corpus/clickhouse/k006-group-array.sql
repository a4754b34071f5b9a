-- form: script
-- expect: OM205 error `groupArray(page)`
CREATE OR REPLACE TABLE mart.visit_pages ENGINE = MergeTree ORDER BY visit_id AS
SELECT visit_id, groupArray(page) AS pages
FROM raw.page_hit
GROUP BY visit_id;
