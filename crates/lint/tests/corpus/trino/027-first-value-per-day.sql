-- form: script
-- expect: OM201 warning `first_value(price) OVER (PARTITION BY symbol, trade_day ORDER BY traded_at)`
DROP TABLE IF EXISTS iceberg.mart.open_price;
CREATE TABLE iceberg.mart.open_price AS
SELECT DISTINCT symbol, trade_day,
       first_value(price) OVER (PARTITION BY symbol, trade_day ORDER BY traded_at) AS open_price
FROM hive.core.trade;
