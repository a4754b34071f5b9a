-- form: script
-- expect: OM303 warning `wallet_close_daily`
-- because: reads yesterday's slice of itself: a corrected past day does not reach later days unless all are re-run in order
-- daily closing balance of prepaid wallets
-- previous close + movements of the day
DELIMITER //
CREATE PROCEDURE wallet_close(IN p_day DATE)
BEGIN
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    ROLLBACK;
    RESIGNAL;
  END;

  START TRANSACTION;

  DELETE FROM wallet_close_daily WHERE close_day = p_day;

  INSERT INTO wallet_close_daily (close_day, wallet_id, balance_cents)
  SELECT p_day,
         w.wallet_id,
         COALESCE(y.balance_cents, 0) + COALESCE(m.delta_cents, 0)
  FROM wallet w
  LEFT JOIN wallet_close_daily y
         ON y.wallet_id = w.wallet_id
        AND y.close_day = DATE_SUB(p_day, INTERVAL 1 DAY)
  LEFT JOIN (
         SELECT wallet_id, SUM(amount_cents) AS delta_cents
         FROM   wallet_movement
         WHERE  booked_on = p_day
         GROUP  BY wallet_id
       ) m ON m.wallet_id = w.wallet_id;

  COMMIT;
END //
DELIMITER ;
