-- form: script
-- expect: OM301 error `INSERT INTO summary_ticket_day`
DELIMITER $$
DROP PROCEDURE IF EXISTS sp_summary_ticket $$
CREATE PROCEDURE sp_summary_ticket(IN p_day DATE)
BEGIN
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    INSERT INTO summary_ticket_day (day, queue_id, opened, solved)
    SELECT p_day, t.queue_id, COUNT(*), SUM(t.status = 'solved')
    FROM ticket t
    WHERE t.opened_on = p_day
    GROUP BY t.queue_id;
    COMMIT;
END $$
DELIMITER ;
