-- form: script
-- expect: none
BEGIN;
DELETE FROM mart.claim_month WHERE month = :'month';
INSERT INTO mart.claim_month (month, branch, claims)
SELECT date_trunc('month', c.opened_on)::date, c.branch, count(*)
FROM raw.claim c
WHERE c.opened_on >= :'month'::date AND c.opened_on < :'month'::date + interval '1 month'
  AND c.opened_on >= DATE '2016-01-01'
GROUP BY 1, 2;
COMMIT;
