-- form: script
-- expect: none
-- because: Delete and insert of the same day in one transaction with rollback, ordered GROUP_CONCAT, NOW() only in refreshed_at.
DROP PROCEDURE IF EXISTS refresh_order_day;
DELIMITER $$
CREATE PROCEDURE refresh_order_day(IN p_day DATE)
BEGIN
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    ROLLBACK;
    RESIGNAL;
  END;

  START TRANSACTION;

  DELETE FROM report.order_day
   WHERE order_day = p_day;

  INSERT INTO report.order_day
         (order_day, merchant_id, orders, refunds, gross_cents, channels, refreshed_at)
  SELECT o.order_day,
         o.merchant_id,
         COUNT(*),
         SUM(o.status = 'REFUNDED'),
         SUM(o.gross_cents),
         GROUP_CONCAT(DISTINCT o.channel ORDER BY o.channel SEPARATOR ','),
         NOW()
    FROM shop.orders AS o
   WHERE o.order_day = p_day
   GROUP BY o.order_day, o.merchant_id;

  COMMIT;
END$$
DELIMITER ;

CALL refresh_order_day('{{ ds }}');
