-- form: script
-- expect: OM101 error `SYSDATE`
-- expect: OM312 error `TRUNCATE TABLE dwh.position_aktuell`
-- because: Stichtag comes from the clock, a rerun on another day loads another day. the whole table is replaced by one day, and it is empty if the insert fails.
CREATE OR REPLACE PACKAGE BODY dwh.pkg_load_positions AS

  -- Tagesverarbeitung Positionen, siehe Betriebshandbuch Kap. 7
  PROCEDURE log_msg (p_msg VARCHAR2) IS
    PRAGMA AUTONOMOUS_TRANSACTION;
  BEGIN
    INSERT INTO dwh.load_log (ts, msg) VALUES (SYSTIMESTAMP, SUBSTR(p_msg, 1, 400));
    COMMIT;
  END log_msg;

  PROCEDURE load_day IS
    v_stichtag DATE := TRUNC(SYSDATE) - 1;
  BEGIN
    EXECUTE IMMEDIATE 'TRUNCATE TABLE dwh.position_aktuell';

    INSERT /*+ APPEND */ INTO dwh.position_aktuell
      (konto_nr, isin, stichtag, stueck, kurswert)
    SELECT p.konto_nr,
           p.isin,
           p.stichtag,
           SUM(p.stueck),
           SUM(p.stueck * k.kurs)
      FROM stg.position p
      JOIN stg.kurs     k ON k.isin = p.isin AND k.stichtag = p.stichtag
     WHERE p.stichtag = v_stichtag
     GROUP BY p.konto_nr, p.isin, p.stichtag;

    log_msg('positionen ' || TO_CHAR(v_stichtag, 'YYYYMMDD') || ': ' || SQL%ROWCOUNT);
    COMMIT;
  EXCEPTION
    WHEN OTHERS THEN
      log_msg(SQLERRM);
      ROLLBACK;
      RAISE;
  END load_day;

END pkg_load_positions;
/
