-- form: script
-- expect: OM309 error `t.amount = t.amount + (SELECT SUM(amount) FROM dwh.sale s WHERE s.shop_id = t.sh …`
CREATE OR REPLACE PACKAGE BODY dwh.loads AS
  PROCEDURE day_total(p_day IN DATE) IS
    l_n NUMBER;
  BEGIN
    DELETE FROM dwh.day_total WHERE day = p_day;
    INSERT INTO dwh.day_total (day, shop_id, amount)
    SELECT s.day, s.shop_id, SUM(s.amount) FROM dwh.sale s WHERE s.day = p_day GROUP BY s.day, s.shop_id;
    l_n := SQL%ROWCOUNT;
    dwh.log_pkg.note('day_total', l_n);
    COMMIT;
  END day_total;

  PROCEDURE add_up(p_day IN DATE) IS
  BEGIN
    UPDATE dwh.shop_total t SET t.amount = t.amount + (SELECT SUM(amount) FROM dwh.sale s WHERE s.shop_id = t.shop_id AND s.day = p_day);
    COMMIT;
  END add_up;
END loads;
/
