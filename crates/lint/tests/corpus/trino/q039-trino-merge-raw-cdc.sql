-- form: script
-- expect: OM307 warning `USING ( SELECT customer_id, full_name, email, tier, op, -- c, u or d; a busy cus …`
-- expect: OM319 warning `WHEN MATCHED THEN UPDATE`
-- because: Several changes of one customer in the interval match one target row: Trino fails the merge, or inserts a new customer twice. Running March's changes again in June puts March's name, mail and tier over June's in a current-state table.
MERGE INTO iceberg.ods.customer AS t
USING (
  SELECT
    customer_id,
    full_name,
    email,
    tier,
    op,                 -- c, u or d; a busy customer has several in a day
    commit_lsn,
    committed_at
  FROM iceberg.cdc.customer_changes
  WHERE committed_at >= TIMESTAMP '${interval_start}'
    AND committed_at <  TIMESTAMP '${interval_end}'
    AND customer_id IS NOT NULL
) AS s
ON t.customer_id = s.customer_id
WHEN MATCHED AND s.op = 'd' THEN DELETE
WHEN MATCHED THEN UPDATE SET
  full_name = s.full_name,
  email = s.email,
  tier = s.tier,
  committed_at = s.committed_at
WHEN NOT MATCHED AND s.op <> 'd' THEN INSERT
  (customer_id, full_name, email, tier, committed_at)
VALUES
  (s.customer_id, s.full_name, s.email, s.tier, s.committed_at);
