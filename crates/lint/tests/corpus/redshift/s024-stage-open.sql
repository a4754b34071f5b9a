-- form: script
-- expect: OM401 error `paid_on >= '{{ ds }}'`
BEGIN;
CREATE TEMP TABLE d (LIKE mart.pay);
INSERT INTO d SELECT pay_id, paid_on, amount FROM raw.pay WHERE paid_on >= '{{ ds }}';
DELETE FROM mart.pay WHERE paid_on = '{{ ds }}';
INSERT INTO mart.pay SELECT * FROM d;
COMMIT;
