-- form: script
-- expect: OM106 warning `monotonically_increasing_id()`
CREATE OR REPLACE TABLE gold.dim_branch
USING DELTA
COMMENT 'branches'
AS
SELECT monotonically_increasing_id() + 1 AS branch_key,
       branch_code,
       branch_name,
       region
FROM silver.branch
WHERE closed_on IS NULL;
