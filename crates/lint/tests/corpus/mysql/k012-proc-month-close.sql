-- form: script
-- expect: none
DELIMITER //
CREATE PROCEDURE close_month(IN p_from DATE, IN p_to DATE)
BEGIN
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
    START TRANSACTION;
        DELETE FROM ledger_month WHERE posted_on >= p_from AND posted_on < p_to;
        INSERT INTO ledger_month (posted_on, account_no, amount)
        SELECT posted_on, account_no, SUM(amount)
        FROM ledger
        WHERE posted_on >= p_from AND posted_on < p_to
        GROUP BY posted_on, account_no;
    COMMIT;
END //
DELIMITER ;
