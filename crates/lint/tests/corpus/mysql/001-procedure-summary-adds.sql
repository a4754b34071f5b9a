-- form: script
-- expect: OM309 error `enter_number = enter_number + VALUES(enter_number)`
-- expect: OM309 error `leave_number = leave_number + VALUES(leave_number)`
DROP PROCEDURE IF EXISTS visitor_day;
DELIMITER $$
CREATE PROCEDURE visitor_day(IN p_day DATE)
BEGIN
  INSERT INTO visitor_statistic_day (device_id, stat_day, enter_number, leave_number)
  SELECT device_id, p_day, SUM(enter_number), SUM(leave_number)
  FROM visitor_statistic_hour
  WHERE stat_day = p_day
  GROUP BY device_id
  ON DUPLICATE KEY UPDATE
    enter_number = enter_number + VALUES(enter_number),
    leave_number = leave_number + VALUES(leave_number);
END$$
DELIMITER ;
