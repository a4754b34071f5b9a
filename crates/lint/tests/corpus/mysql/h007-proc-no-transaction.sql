-- form: script
-- expect: OM310 error `DELETE FROM fact_enrolment`
DELIMITER //
CREATE PROCEDURE sp_fact_enrolment(IN in_term CHAR(6))
BEGIN
    DELETE FROM fact_enrolment WHERE term_code = in_term;

    INSERT INTO fact_enrolment (term_code, student_id, course_id, credits)
    SELECT e.term_code, e.student_id, e.course_id, c.credits
    FROM src_enrolment e
    INNER JOIN src_course c ON c.course_id = e.course_id
    WHERE e.term_code = in_term;
END //
DELIMITER ;
