-- form: script
-- expect: none
-- merchant payouts, one day at a time:  psql -v from=2024-05-01 -v to=2024-05-02
-- (the old version used now() - interval '1 day', see OPS-311. Do not bring it back)
\set ON_ERROR_STOP on
BEGIN;

DELETE FROM fin.payout_line
 WHERE settled_on >= :'from'::date
   AND settled_on <  :'to'::date;

INSERT INTO fin.payout_line
       (settled_on, merchant_id, line_no, payout_id, amount_cents, source_note)
SELECT p.settled_on,
       p.merchant_id,
       row_number() OVER (PARTITION BY p.settled_on, p.merchant_id ORDER BY p.payout_id) AS line_no,
       p.payout_id,
       p.amount_cents - coalesce(p.fee_cents, 0),
       'valued at settlement, not current_date'
  FROM fin.payout p          -- payout_id is the primary key
 WHERE p.settled_on >= :'from'::date
   AND p.settled_on <  :'to'::date
   AND p.state = 'SETTLED';

COMMIT;
