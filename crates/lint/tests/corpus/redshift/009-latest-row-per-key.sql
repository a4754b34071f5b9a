-- form: script
-- expect: OM201 warning `ROW_NUMBER() OVER (PARTITION BY account_no ORDER BY balance_ts DESC)`
BEGIN;
DELETE FROM mart.account_balance WHERE balance_date = :run_date;
INSERT INTO mart.account_balance (balance_date, account_no, balance, currency)
SELECT :run_date, account_no, balance, currency
FROM (
  SELECT account_no, balance, currency,
         ROW_NUMBER() OVER (PARTITION BY account_no ORDER BY balance_ts DESC) AS rn
  FROM ods.balance_event
  WHERE balance_ts < DATEADD(day, 1, :run_date)
) t
WHERE rn = 1;
COMMIT;
