-- form: script
-- expect: none
CREATE OR REPLACE TABLE fin.trade_quote
ENGINE = MergeTree ORDER BY (symbol, trade_id)
AS
SELECT t.trade_id AS trade_id, t.symbol AS symbol, t.price AS price, q.bid AS bid
FROM fin.trade AS t
ASOF LEFT JOIN (SELECT symbol, ts, max(bid) AS bid FROM fin.quote GROUP BY symbol, ts) AS q
  ON q.symbol = t.symbol AND q.ts <= t.ts
WHERE t.day >= {from:Date} AND t.day < {to:Date};
