-- form: script
-- expect: OM404 error `work_day > DATE_SUB(p_day, INTERVAL 7 DAY) AND work_day <= p_day`
-- because: the run for one day deletes seven and writes back only one, so the six days before are lost
DELIMITER $$
DROP PROCEDURE IF EXISTS rollup_courier_day $$
CREATE PROCEDURE rollup_courier_day (IN p_day DATE)
BEGIN
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    ROLLBACK;
    RESIGNAL;
  END;

  START TRANSACTION;

  DELETE FROM courier_day
   WHERE work_day >  DATE_SUB(p_day, INTERVAL 7 DAY)
     AND work_day <= p_day;

  INSERT INTO courier_day (work_day, courier_id, drops, metres, tips_cents)
  SELECT d.work_day,
         d.courier_id,
         COUNT(*),
         SUM(d.metres),
         SUM(d.tip_cents)
    FROM delivery AS d
   WHERE d.work_day = p_day
     AND d.state = 'DONE'
   GROUP BY d.work_day, d.courier_id;

  COMMIT;
END $$
DELIMITER ;
