-- form: script
-- expect: OM309 error `points = points + v_bonus`
DROP PROCEDURE IF EXISTS grant_bonus;
DELIMITER //
CREATE PROCEDURE grant_bonus(IN p_day DATE)
BEGIN
  DECLARE done INT DEFAULT 0;
  DECLARE v_user BIGINT;
  DECLARE v_bonus INT;
  DECLARE cur CURSOR FOR SELECT user_id, bonus FROM bonus_grant WHERE grant_day = p_day;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1;

  OPEN cur;
  next_row: LOOP
    FETCH cur INTO v_user, v_bonus;
    IF done = 1 THEN LEAVE next_row; END IF;
    UPDATE wallet SET points = points + v_bonus WHERE user_id = v_user;
  END LOOP;
  CLOSE cur;
END//
DELIMITER ;
