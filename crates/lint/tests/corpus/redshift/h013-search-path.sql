-- form: script
-- expect: OM108 warning `SET search_path TO finance`
SET search_path TO finance;

BEGIN;
DELETE FROM gl_balance WHERE period = '{{ params.period }}';
INSERT INTO gl_balance (period, account_no, debit, credit)
SELECT period, account_no, SUM(debit), SUM(credit)
FROM erp.gl_entry
WHERE period = '{{ params.period }}'
GROUP BY period, account_no;
COMMIT;
