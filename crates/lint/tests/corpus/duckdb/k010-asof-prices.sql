-- form: script
-- expect: none
CREATE TABLE IF NOT EXISTS ref.price (
    symbol    VARCHAR NOT NULL,
    quoted_at TIMESTAMP NOT NULL,
    price     DECIMAL(18, 6),
    PRIMARY KEY (symbol, quoted_at)
);

CREATE OR REPLACE TABLE mart.trade_priced AS
SELECT t.trade_id, t.symbol, t.traded_at, t.qty, p.price, t.qty * p.price AS notional
FROM raw.trade t
ASOF LEFT JOIN ref.price p
  ON p.symbol = t.symbol AND p.quoted_at <= t.traded_at;
