-- form: script
-- expect: OM305 error `SELECT coalesce(max(block_number), 0) FROM iceberg.chain.transfer`
INSERT INTO iceberg.chain.transfer (block_number, tx_hash, log_index, sender, receiver, amount)
SELECT l.block_number, l.tx_hash, l.log_index, l.topic1, l.topic2, l.amount
FROM hive.chain.log l
WHERE l.block_number > (SELECT coalesce(max(block_number), 0) FROM iceberg.chain.transfer)
  AND l.topic0 = 0xddf2;
