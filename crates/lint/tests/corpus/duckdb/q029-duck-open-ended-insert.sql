-- form: script
-- expect: OM401 error `p.paid_on >= $day`
-- because: A re-run of an old day also reads all later days, deletes only its own, and inserts the later days a second time.
BEGIN TRANSACTION;

CREATE OR REPLACE TEMP TABLE batch AS
SELECT p.payment_id, p.paid_on, p.method, p.amount, f.rate, p.amount * f.rate AS amount_eur
FROM bank.payment AS p
JOIN bank.fx AS f
  ON f.fx_day = p.paid_on
 AND f.currency = p.currency
WHERE p.paid_on >= $day;

DELETE FROM mart.payment_eur
WHERE paid_on = $day;

INSERT INTO mart.payment_eur
SELECT * FROM batch;

COMMIT;
