-- form: script
-- expect: none
MERGE INTO silver.asset AS t
USING (
    SELECT asset_id, max_by(state, struct(updated_at, change_id)) AS state, max(updated_at) AS updated_at
    FROM bronze.asset
    WHERE updated_at >= '${from_ts}' AND updated_at < '${to_ts}'
    GROUP BY asset_id
) AS s
ON t.asset_id = s.asset_id
WHEN MATCHED AND s.updated_at >= t.updated_at THEN UPDATE SET t.state = s.state, t.updated_at = s.updated_at
WHEN NOT MATCHED THEN INSERT (asset_id, state, updated_at) VALUES (s.asset_id, s.state, s.updated_at);
