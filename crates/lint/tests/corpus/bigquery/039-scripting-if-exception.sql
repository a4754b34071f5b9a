-- form: script
-- expect: none
DECLARE target_day DATE DEFAULT @run_date;
DECLARE n INT64;

SET n = (SELECT COUNT(*) FROM raw.meter_reads WHERE read_day = target_day);

IF n > 0 THEN
  BEGIN
    BEGIN TRANSACTION;
    DELETE FROM mart.meter_day WHERE read_day = target_day;
    INSERT INTO mart.meter_day (read_day, meter_id, kwh)
    SELECT read_day, meter_id, SUM(kwh)
    FROM raw.meter_reads
    WHERE read_day = target_day
    GROUP BY read_day, meter_id;
    COMMIT TRANSACTION;
  EXCEPTION WHEN ERROR THEN
    ROLLBACK TRANSACTION;
    RAISE;
  END;
END IF;
