-- form: script
-- expect: none
BEGIN;
CREATE TEMP TABLE d AS SELECT * FROM raw.pay WHERE paid_on >= $from AND paid_on < $to;
DELETE FROM mart.pay WHERE paid_on >= $from AND paid_on < $to;
INSERT INTO mart.pay (pay_id, paid_on, amount) SELECT pay_id, paid_on, amount FROM d;
COMMIT;
