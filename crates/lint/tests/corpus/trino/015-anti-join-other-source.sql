-- form: script
-- expect: none
START TRANSACTION;
DELETE FROM iceberg.chain.pool_unknown WHERE block_date = DATE '{{ ds }}';
INSERT INTO iceberg.chain.pool_unknown (block_date, pool, tx_hash)
SELECT s.block_date, s.pool, s.tx_hash
FROM hive.chain.swap s
LEFT JOIN iceberg.chain.pool p ON p.pool = s.pool
WHERE s.block_date = DATE '{{ ds }}'
  AND p.pool IS NULL;
COMMIT;
