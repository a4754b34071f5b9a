-- form: script
-- expect: none
-- because: MERGE ON FALSE is the atomic replace-partition idiom: everything of the day in the target is deleted (scoped to @run_date) and the day's rows inserted in the same statement; DATE() is UTC in BigQuery.
-- scheduled query; destination chain.transfers is partitioned by DATE(block_timestamp)
MERGE `chain.transfers` AS dest
USING (
  SELECT
    tx_hash,
    log_index,
    block_number,
    block_timestamp,
    from_address,
    to_address,
    SAFE_CAST(value AS NUMERIC) AS value
  FROM `chain_raw.transfers`
  WHERE DATE(block_timestamp) = @run_date
) AS source
ON FALSE
WHEN NOT MATCHED THEN
  INSERT (tx_hash, log_index, block_number, block_timestamp, from_address, to_address, value)
  VALUES (tx_hash, log_index, block_number, block_timestamp, from_address, to_address, value)
WHEN NOT MATCHED BY SOURCE AND DATE(dest.block_timestamp) = @run_date THEN
  DELETE;
