-- form: script
-- expect: OM307 warning `USING bronze.account_changes…`
MERGE INTO silver.account AS t
USING bronze.account_changes AS s
ON t.account_id = s.account_id
WHEN MATCHED AND s._op = 'D' THEN DELETE
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED AND s._op <> 'D' THEN INSERT *;
