-- form: script
-- expect: OM203 warning `DISTINCT ON (c.account_id)`
-- because: Two collectors deliver the same last minute, so which balance and collector win for a tied minute differs between two runs of the same day.
-- End-of-day balance per account. Captures arrive once a minute from two collectors,
-- so there may be two rows for the same account and minute.
BEGIN;

DELETE FROM treasury.balance_eod
 WHERE as_of_day = DATE '{{ ds }}';

INSERT INTO treasury.balance_eod (account_id, as_of_day, balance, currency, collector)
SELECT DISTINCT ON (c.account_id)
       c.account_id,
       c.capture_day,
       c.balance,
       c.currency,
       c.collector
  FROM treasury.balance_capture AS c
  JOIN treasury.account AS a
    ON a.account_id = c.account_id
 WHERE c.capture_day = DATE '{{ ds }}'
   AND a.closed_on IS NULL
 ORDER BY c.account_id, c.captured_minute DESC;

COMMIT;
