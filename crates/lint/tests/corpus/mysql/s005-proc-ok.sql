-- form: script
-- expect: none
DELIMITER //
CREATE PROCEDURE load_day(IN p_from DATE, IN p_to DATE)
BEGIN
  START TRANSACTION;
  DELETE FROM mart.sale_day WHERE sale_day >= p_from AND sale_day < p_to;
  INSERT INTO mart.sale_day (sale_day, shop_id, amount)
  SELECT sale_day, shop_id, SUM(amount) FROM raw.sale WHERE sale_day >= p_from AND sale_day < p_to GROUP BY sale_day, shop_id;
  COMMIT;
END //
DELIMITER ;
