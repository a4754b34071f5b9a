-- form: script
-- expect: none
TRUNCATE TABLE stg.Trade_Switch;

INSERT INTO stg.Trade_Switch (TradeDate, TradeNo, Qty, Price)
SELECT TradeDate, TradeNo, Qty, Price
FROM raw.Trade
WHERE TradeDate = @TradeDate;

SET XACT_ABORT ON;
BEGIN TRANSACTION;
DELETE FROM dwh.Trade WHERE TradeDate = @TradeDate;
INSERT INTO dwh.Trade (TradeDate, TradeNo, Qty, Price)
SELECT TradeDate, TradeNo, Qty, Price FROM stg.Trade_Switch;
COMMIT TRANSACTION;
