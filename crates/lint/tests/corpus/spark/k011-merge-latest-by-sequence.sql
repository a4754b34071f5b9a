-- form: script
-- expect: none
MERGE INTO silver.member t
USING (
  SELECT member_id, email, tier, change_seq
  FROM (
    SELECT *, row_number() OVER (PARTITION BY member_id ORDER BY change_seq DESC) AS rn
    FROM bronze.member_cdc
    WHERE ingest_date = '{{ ds }}'
  )
  WHERE rn = 1
) s
ON t.member_id = s.member_id
WHEN MATCHED AND s.change_seq >= t.change_seq THEN
  UPDATE SET t.email = s.email, t.tier = s.tier, t.change_seq = s.change_seq
WHEN NOT MATCHED THEN
  INSERT (member_id, email, tier, change_seq) VALUES (s.member_id, s.email, s.tier, s.change_seq);
