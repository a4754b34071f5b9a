-- form: script
-- expect: OM311 error `TRUNCATE claims.claim_stage`
-- because: TRUNCATE commits in Redshift, so the DELETE above is already permanent; if the following INSERT fails the day stays empty until somebody re-runs it
BEGIN;

DELETE FROM claims.claim_daily
 WHERE report_date = '${report_date}';

TRUNCATE claims.claim_stage;

INSERT INTO claims.claim_stage (claim_no, policy_no, peril, reserve_amt, paid_amt, report_date)
SELECT c.claim_no,
       c.policy_no,
       c.peril,
       SUM(t.reserve_delta),
       SUM(t.paid_delta),
       '${report_date}'::DATE
  FROM src.claim c
  JOIN src.claim_txn t ON t.claim_no = c.claim_no
 WHERE t.booked_on <= '${report_date}'::DATE
 GROUP BY c.claim_no, c.policy_no, c.peril;

INSERT INTO claims.claim_daily (report_date, claim_no, policy_no, peril, reserve_amt, paid_amt)
SELECT report_date, claim_no, policy_no, peril, reserve_amt, paid_amt
  FROM claims.claim_stage;

COMMIT;
