-- form: script
-- expect: OM319 warning `WHEN MATCHED THEN UPDATE`
MERGE INTO ods.c AS t USING (
 SELECT id, name, op FROM (SELECT id, name, op, row_number() OVER (PARTITION BY id ORDER BY lsn DESC) rn FROM cdc.c WHERE commit_ts >= TIMESTAMP '${a}' AND commit_ts < TIMESTAMP '${b}' AND id IS NOT NULL) WHERE rn = 1) AS s
ON t.id = s.id
WHEN MATCHED AND s.op = 'd' THEN DELETE
WHEN MATCHED THEN UPDATE SET name = s.name
WHEN NOT MATCHED AND s.op <> 'd' THEN INSERT (id, name) VALUES (s.id, s.name);
