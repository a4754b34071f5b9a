-- form: script
-- expect: OM309 error `entered = entered + VALUES(entered)`
-- expect: OM309 error `left_out = left_out + VALUES(left_out)`
-- because: Calling the procedure twice for the same hours adds their counts to the day a second time.
DELIMITER //
CREATE PROCEDURE roll_footfall(IN p_from DATETIME, IN p_to DATETIME)
BEGIN
  CREATE TABLE IF NOT EXISTS footfall_day (
    door_id   INT  NOT NULL,
    visit_day DATE NOT NULL,
    entered   INT  NOT NULL DEFAULT 0,
    left_out  INT  NOT NULL DEFAULT 0,
    last_seen DATETIME NULL,
    touched_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
    PRIMARY KEY (door_id, visit_day)
  );

  INSERT INTO footfall_day (door_id, visit_day, entered, left_out, last_seen)
  SELECT f.door_id,
         f.visit_day,
         SUM(f.entered),
         SUM(f.left_out),
         MAX(f.counted_at)
    FROM footfall_raw AS f
   WHERE f.counted_at >= p_from
     AND f.counted_at <  p_to
   GROUP BY f.door_id, f.visit_day
  ON DUPLICATE KEY UPDATE
         entered   = entered + VALUES(entered),
         left_out  = left_out + VALUES(left_out),
         last_seen = GREATEST(last_seen, VALUES(last_seen));
END //
DELIMITER ;
