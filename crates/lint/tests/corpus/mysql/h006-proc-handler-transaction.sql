-- form: script
-- expect: none
DELIMITER $$
DROP PROCEDURE IF EXISTS refresh_ranking $$
CREATE PROCEDURE refresh_ranking(IN p_season INT)
BEGIN
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    DELETE FROM ranking WHERE season = p_season;
    INSERT INTO ranking (season, team_id, points)
    SELECT season, team_id, SUM(points)
    FROM match_points
    WHERE season = p_season
    GROUP BY season, team_id;
    COMMIT;
END $$
DELIMITER ;
