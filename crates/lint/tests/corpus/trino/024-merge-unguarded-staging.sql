-- form: script
-- expect: OM307 warning `USING hive.staging.host…`
MERGE INTO iceberg.core.host AS t
USING hive.staging.host AS s
ON t.host_id = s.host_id
WHEN MATCHED THEN UPDATE SET name = s.name, country = s.country
WHEN NOT MATCHED THEN INSERT (host_id, name, country) VALUES (s.host_id, s.name, s.country);
