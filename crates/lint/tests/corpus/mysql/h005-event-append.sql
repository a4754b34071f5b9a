-- form: script
-- expect: OM301 error `INSERT INTO site_activity.totals`
DELIMITER ;;
CREATE EVENT IF NOT EXISTS e_nightly_totals
  ON SCHEDULE EVERY 1 DAY STARTS '2024-01-01 01:00:00'
  DO
BEGIN
  INSERT INTO site_activity.totals (page, hits)
  SELECT page, COUNT(*) FROM site_activity.sessions GROUP BY page;
END ;;
DELIMITER ;
