-- form: script
-- expect: none
-- occupancy per car park and hour; proc is called by the event ev_parking_hourly
DELIMITER $$
DROP PROCEDURE IF EXISTS city.fill_occupancy $$
CREATE PROCEDURE city.fill_occupancy(IN p_from DATETIME, IN p_to DATETIME)
BEGIN
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    ROLLBACK;
    RESIGNAL;
  END;

  START TRANSACTION;

  DELETE FROM city.occupancy_hour
   WHERE hour_start >= p_from AND hour_start < p_to;

  INSERT INTO city.occupancy_hour (hour_start, park_id, max_cars, min_cars, zones)
  SELECT s.hour_start,
         s.park_id,
         MAX(s.cars),
         MIN(s.cars),
         GROUP_CONCAT(DISTINCT s.zone ORDER BY s.zone SEPARATOR ',')
    FROM city.occupancy_sample AS s
   WHERE s.hour_start >= p_from AND s.hour_start < p_to
   GROUP BY s.hour_start, s.park_id;

  COMMIT;
END $$
DELIMITER ;
