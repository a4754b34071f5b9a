-- form: script
-- expect: OM310 error `DELETE FROM finance.gl_balance`
DELETE FROM finance.gl_balance
USING finance.gl_balance_stage
WHERE finance.gl_balance.period = finance.gl_balance_stage.period
  AND finance.gl_balance.account = finance.gl_balance_stage.account;

INSERT INTO finance.gl_balance (period, account, debit, credit)
SELECT period, account, SUM(debit), SUM(credit)
FROM finance.gl_balance_stage
GROUP BY period, account;
