-- form: script
-- expect: OM312 error `TRUNCATE TABLE bank.branch_cash_day`
-- expect: OM109 warning `booked_at::date`
-- expect: OM109 warning `booked_at::date`
-- because: all days are thrown away and only the interval of this run is put back booked_at is timestamptz: the day depends on the session's time zone
-- teller cash per branch and day; args: :start :end (timestamps, UTC)
CREATE TABLE IF NOT EXISTS bank.teller_txn (
    txn_id     bigint PRIMARY KEY,
    branch_no  int         NOT NULL,
    booked_at  timestamptz NOT NULL,
    amount     numeric(14,2) NOT NULL
);

BEGIN;

TRUNCATE TABLE bank.branch_cash_day;

INSERT INTO bank.branch_cash_day (branch_no, cash_day, txns, net)
SELECT branch_no,
       booked_at::date,
       count(*),
       sum(amount)
FROM   bank.teller_txn
WHERE  booked_at >= :start
AND    booked_at <  :end
GROUP  BY branch_no, booked_at::date;

COMMIT;
