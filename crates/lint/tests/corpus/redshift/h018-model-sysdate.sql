-- form: model
-- expect: OM101 error `SYSDATE`
/* oncemore
kind: full
key: [contract_no]
*/
SELECT contract_no, customer_no,
       CASE WHEN end_date < SYSDATE THEN 'expired' ELSE 'running' END AS contract_state
FROM raw.contract
