-- form: script
-- expect: OM101 error `CURDATE()`
-- expect: OM101 error `CURDATE()`
DELIMITER $$
CREATE EVENT ev_roll ON SCHEDULE EVERY 1 DAY DO
BEGIN
  INSERT INTO mart.hit_day (day, n) SELECT DATE(hit_at), COUNT(*) FROM raw.hit WHERE hit_at >= CURDATE() - INTERVAL 1 DAY AND hit_at < CURDATE() GROUP BY DATE(hit_at)
  ON DUPLICATE KEY UPDATE n = VALUES(n);
END$$
DELIMITER ;
