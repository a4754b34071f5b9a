-- form: script
-- expect: none
DROP PROCEDURE IF EXISTS gate_day;
DELIMITER //
CREATE PROCEDURE gate_day(IN p_day DATE)
BEGIN
  INSERT INTO gate_statistic_day (gate_id, stat_day, passages, last_passage)
  SELECT gate_id, p_day, COUNT(*), MAX(passed_at)
  FROM gate_passage
  WHERE passed_at >= p_day AND passed_at < p_day + INTERVAL 1 DAY
  GROUP BY gate_id
  ON DUPLICATE KEY UPDATE
    passages = VALUES(passages),
    last_passage = VALUES(last_passage);
END//
DELIMITER ;
