-- form: script
-- expect: OM206 warning `ORDER BY searches DESC`
CREATE OR REPLACE TABLE search.top_terms AS
WITH terms AS (
  SELECT LOWER(TRIM(query)) AS term, COUNT(*) AS searches
  FROM search.log
  WHERE day BETWEEN DATE '2024-01-01' AND DATE '2024-12-31'
  GROUP BY term
)
SELECT term, searches
FROM terms
ORDER BY searches DESC
LIMIT 500;
