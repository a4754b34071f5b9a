-- form: script
-- expect: OM301 error `INSERT INTO stats_hourly`
CREATE EVENT IF NOT EXISTS ev_stats
ON SCHEDULE EVERY 1 HOUR
DO
  INSERT INTO stats_hourly (hour, page, hits)
  SELECT DATE_FORMAT(h.at, '%Y-%m-%d %H:00:00'), h.page, COUNT(*)
  FROM hit h
  WHERE h.at >= @from AND h.at < @to
  GROUP BY DATE_FORMAT(h.at, '%Y-%m-%d %H:00:00'), h.page;
