-- form: script
-- expect: OM201 warning `lagInFrame(price) OVER (PARTITION BY symbol ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)`
CREATE OR REPLACE TABLE fin.price_change
ENGINE = MergeTree ORDER BY (symbol, ts)
AS
SELECT symbol, ts, price,
       price - lagInFrame(price) OVER (PARTITION BY symbol ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS diff
FROM fin.tick;
