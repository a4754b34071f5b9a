-- form: script
-- expect: none
CREATE OR REPLACE TABLE pairs AS
SELECT a, b
FROM (
  SELECT a, b, row_number() OVER (PARTITION BY a, b) AS rn FROM raw.edges
)
WHERE rn = 1;
