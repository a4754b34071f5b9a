-- form: script
-- expect: none
START TRANSACTION;
DELETE FROM course_roster WHERE term_code = @term;
INSERT INTO course_roster (term_code, course_id, students, n)
SELECT @term, e.course_id,
       GROUP_CONCAT(DISTINCT st.full_name ORDER BY st.full_name SEPARATOR '; '),
       COUNT(DISTINCT e.student_id)
FROM enrolment e
JOIN student st ON st.student_id = e.student_id
WHERE e.term_code = @term
GROUP BY e.course_id;
COMMIT;
