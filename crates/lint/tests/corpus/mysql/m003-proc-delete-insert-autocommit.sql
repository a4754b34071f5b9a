-- form: script
-- expect: OM310 error `DELETE FROM agg_branch_day`
DELIMITER $$
DROP PROCEDURE IF EXISTS load_branch_day$$
CREATE PROCEDURE load_branch_day(IN p_day DATE)
BEGIN
    DELETE FROM agg_branch_day WHERE day = p_day;
    INSERT INTO agg_branch_day (day, branch_id, deposits)
    SELECT t.booked_on, t.branch_id, SUM(t.amount)
    FROM txn t
    WHERE t.booked_on = p_day
    GROUP BY t.booked_on, t.branch_id;
END$$
DELIMITER ;
