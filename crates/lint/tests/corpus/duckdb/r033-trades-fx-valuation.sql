-- form: script
-- expect: none
-- because: The upsert key starts with the trade day that bounds the source, so a re-run only replaces its own rows; the ASOF match is decided because (ccy, rate_at) is the primary key of the rates.
CREATE TABLE IF NOT EXISTS fx_rate (
    ccy      VARCHAR   NOT NULL,
    rate_at  TIMESTAMP NOT NULL,
    to_eur   DECIMAL(18,8) NOT NULL,
    PRIMARY KEY (ccy, rate_at)
);

CREATE TABLE IF NOT EXISTS trade_valued (
    trade_day  DATE    NOT NULL,
    trade_id   BIGINT  NOT NULL,
    ccy        VARCHAR NOT NULL,
    notional   DECIMAL(18,2) NOT NULL,
    rate_at    TIMESTAMP,
    value_eur  DECIMAL(18,2),
    PRIMARY KEY (trade_day, trade_id)
);

INSERT OR REPLACE INTO trade_valued
      (trade_day, trade_id, ccy, notional, rate_at, value_eur)
SELECT t.trade_day
     , t.trade_id
     , t.ccy
     , t.notional
     , r.rate_at
     , CAST(t.notional * r.to_eur AS DECIMAL(18,2))
FROM   trade AS t               -- trade_id is the primary key
ASOF LEFT JOIN fx_rate AS r
       ON  r.ccy = t.ccy
       AND r.rate_at <= t.traded_at
WHERE  t.trade_day = CAST($trade_day AS DATE);
