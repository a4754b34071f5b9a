-- form: script
-- expect: OM310 error `DELETE FROM lake.gold.exposure`
DELETE FROM lake.gold.exposure WHERE as_of = DATE '{{ ds }}';
INSERT INTO lake.gold.exposure (as_of, desk, notional)
SELECT DATE '{{ ds }}', desk, sum(notional)
FROM lake.silver.position
WHERE position_date = DATE '{{ ds }}'
GROUP BY desk;
