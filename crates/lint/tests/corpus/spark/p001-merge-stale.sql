-- form: script
-- expect: OM319 warning `WHEN MATCHED THEN UPDATE`
MERGE INTO silver.contract AS t
USING (
    SELECT contract_id, state, limit_amount, updated_at
    FROM (
        SELECT *, row_number() OVER (PARTITION BY contract_id ORDER BY updated_at DESC, change_id DESC) AS rn
        FROM bronze.contract
        WHERE updated_at >= '${from_ts}' AND updated_at < '${to_ts}'
    ) WHERE rn = 1
) AS s
ON t.contract_id = s.contract_id
WHEN MATCHED THEN UPDATE SET t.state = s.state, t.limit_amount = s.limit_amount, t.updated_at = s.updated_at
WHEN NOT MATCHED THEN INSERT (contract_id, state, limit_amount, updated_at) VALUES (s.contract_id, s.state, s.limit_amount, s.updated_at);
