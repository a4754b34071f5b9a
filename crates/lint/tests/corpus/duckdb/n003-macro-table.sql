-- form: script
-- expect: none
CREATE OR REPLACE MACRO clean(s) AS trim(lower(s));
CREATE OR REPLACE TABLE dim_tag AS
SELECT DISTINCT clean(tag) AS tag FROM raw_tag WHERE tag IS NOT NULL ORDER BY tag;
