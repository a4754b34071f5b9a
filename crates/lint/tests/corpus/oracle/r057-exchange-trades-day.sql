-- form: script
-- expect: OM401 error `t.trade_ts >= v_day`
-- because: no upper bound: re-running an old day deletes one day but inserts that day and every later one again
DECLARE
    v_day DATE := TO_DATE('&1', 'YYYY-MM-DD');
BEGIN
    DELETE FROM mkt.trade_day_stat WHERE trade_day = v_day;

    INSERT INTO mkt.trade_day_stat (trade_day, isin, trades, volume, vwap)
    SELECT TRUNC(t.trade_ts),
           t.isin,
           COUNT(*),
           SUM(t.qty),
           ROUND(SUM(t.qty * t.price) / NULLIF(SUM(t.qty), 0), 6)
      FROM mkt.trade t
     WHERE t.trade_ts >= v_day
       AND t.cancelled = 'N'
     GROUP BY TRUNC(t.trade_ts), t.isin;

    COMMIT;
END;
/
