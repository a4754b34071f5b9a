-- form: script
-- expect: OM101 error `today()`
CREATE OR REPLACE TABLE overdue_loans AS
SELECT loan_id, member_id, due_on
FROM loans
WHERE returned_on IS NULL AND due_on < today();
