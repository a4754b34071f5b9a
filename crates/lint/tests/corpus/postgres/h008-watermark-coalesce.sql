-- form: script
-- expect: OM305 error `SELECT COALESCE(MAX(block_number), 0) FROM eth.transfers`
INSERT INTO eth.transfers (tx_hash, log_index, block_number, from_addr, to_addr, amount)
SELECT l.tx_hash, l.log_index, l.block_number,
       '0x' || substr(l.topic1, 27), '0x' || substr(l.topic2, 27),
       l.data::numeric
FROM eth.logs l
WHERE l.topic0 = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  AND l.block_number > (SELECT COALESCE(MAX(block_number), 0) FROM eth.transfers);
