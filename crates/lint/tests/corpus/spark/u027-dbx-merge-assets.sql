-- form: script
-- expect: none
-- silver.assets from CDC (debezium). Tombstones stay in the table with op = 'd', the view filters them
MERGE INTO silver.assets AS t
USING (
  SELECT asset_id, site_code, op, lsn, model, state
  FROM (
    SELECT
      asset_id, site_code, op, lsn, model, state,
      row_number() OVER (PARTITION BY asset_id, site_code ORDER BY lsn DESC) AS rn   -- lsn is unique
    FROM bronze.assets_cdc
    WHERE batch_id = :batch_id
      AND asset_id IS NOT NULL
  )
  WHERE rn = 1
) AS s
ON  t.asset_id = s.asset_id
AND t.site_code <=> s.site_code
WHEN MATCHED AND s.lsn >= t.lsn THEN UPDATE SET
  t.op = s.op, t.lsn = s.lsn, t.model = s.model, t.state = s.state
WHEN NOT MATCHED THEN INSERT (asset_id, site_code, op, lsn, model, state)
  VALUES (s.asset_id, s.site_code, s.op, s.lsn, s.model, s.state);
