-- form: script
-- expect: none
-- because: MERGE ON FALSE is an atomic replace of one day: only that day is deleted, and the source is filtered to the same day; INSERT-only and NOT MATCHED BY SOURCE DELETE are both bounded.
MERGE `chain-dwh.curated.token_transfers` AS dest
USING (
  SELECT
    transaction_hash,
    log_index,
    token_address,
    from_address,
    to_address,
    SAFE_CAST(value AS NUMERIC) AS value,
    block_number,
    block_timestamp,
    DATE(block_timestamp) AS block_date
  FROM `chain-dwh.raw.token_transfers`
  WHERE block_timestamp >= TIMESTAMP(@run_date)
    AND block_timestamp <  TIMESTAMP(DATE_ADD(@run_date, INTERVAL 1 DAY))
) AS src
ON FALSE
WHEN NOT MATCHED BY SOURCE AND dest.block_date = @run_date THEN
  DELETE
WHEN NOT MATCHED BY TARGET THEN
  INSERT (transaction_hash, log_index, token_address, from_address, to_address,
          value, block_number, block_timestamp, block_date)
  VALUES (src.transaction_hash, src.log_index, src.token_address, src.from_address, src.to_address,
          src.value, src.block_number, src.block_timestamp, src.block_date);
