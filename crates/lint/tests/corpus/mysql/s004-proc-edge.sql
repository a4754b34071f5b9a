-- form: script
-- expect: OM401 error `sale_day >= p_from`
DELIMITER //
CREATE PROCEDURE load_day(IN p_from DATE, IN p_to DATE)
BEGIN
  START TRANSACTION;
  DELETE FROM mart.sale_day WHERE sale_day = p_from;
  INSERT INTO mart.sale_day (sale_day, shop_id, amount)
  SELECT sale_day, shop_id, SUM(amount) FROM raw.sale WHERE sale_day >= p_from GROUP BY sale_day, shop_id;
  COMMIT;
END //
DELIMITER ;
