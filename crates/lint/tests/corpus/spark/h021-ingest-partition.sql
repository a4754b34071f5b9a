-- form: script
-- expect: OM406 warning `PARTITION (run_date = '${run_date}')`
INSERT OVERWRITE TABLE gold.claims PARTITION (run_date = '${run_date}')
SELECT claim_no, claim_date, amount
FROM silver.claims
WHERE claim_date >= '${from_date}' AND claim_date < '${to_date}';
