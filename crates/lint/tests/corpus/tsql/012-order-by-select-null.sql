-- form: script
-- expect: OM202 error `ROW_NUMBER() OVER (PARTITION BY SerialNo ORDER BY (SELECT NULL))`
;WITH d AS (
    SELECT SerialNo, Model, Owner,
           ROW_NUMBER() OVER (PARTITION BY SerialNo ORDER BY (SELECT NULL)) AS rn
    FROM stg.Asset
)
MERGE dbo.Asset AS t
USING (SELECT SerialNo, Model, Owner FROM d WHERE rn = 1) AS s
ON t.SerialNo = s.SerialNo
WHEN MATCHED THEN UPDATE SET Model = s.Model, Owner = s.Owner
WHEN NOT MATCHED THEN INSERT (SerialNo, Model, Owner) VALUES (s.SerialNo, s.Model, s.Owner);
