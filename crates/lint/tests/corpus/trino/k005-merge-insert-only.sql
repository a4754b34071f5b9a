-- form: script
-- expect: OM306 error `MERGE INTO iceberg.dim.host`
MERGE INTO iceberg.dim.host AS t
USING (
    SELECT host, max(owner) AS owner
    FROM iceberg.raw.cmdb
    GROUP BY host
) AS s
ON t.host = s.host
WHEN NOT MATCHED THEN INSERT (host, owner) VALUES (s.host, s.owner)
