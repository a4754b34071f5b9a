-- form: script
-- expect: none
BEGIN;
DELETE FROM mart.balance_by_day WHERE 1 = 1;
INSERT INTO mart.balance_by_day (account_no, day, balance)
SELECT account_no, day, SUM(amount) OVER (PARTITION BY account_no ORDER BY day ROWS UNBOUNDED PRECEDING)
FROM (SELECT account_no, day, SUM(amount) AS amount FROM ods.booking GROUP BY account_no, day) d;
COMMIT;
