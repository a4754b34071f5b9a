-- form: script
-- expect: OM301 error `INSERT INTO hive.mart.payout_day`
INSERT INTO hive.mart.payout_day
SELECT host_id, sum(amount) AS amount, '{{ ds }}' AS ds
FROM hive.core.payout
WHERE ds = '{{ ds }}'
GROUP BY host_id;
