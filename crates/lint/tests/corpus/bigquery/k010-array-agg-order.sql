-- form: script
-- expect: none
CREATE OR REPLACE TABLE lib.reader_history AS
SELECT
  reader_id,
  ARRAY_AGG(STRUCT(loan_id, borrowed_on, isbn) ORDER BY borrowed_on, loan_id) AS loans,
  STRING_AGG(DISTINCT branch, ',' ORDER BY branch) AS branches,
  APPROX_COUNT_DISTINCT(isbn) AS titles
FROM lib.loan
GROUP BY reader_id;
