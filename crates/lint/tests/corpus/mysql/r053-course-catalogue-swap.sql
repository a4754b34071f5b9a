-- form: script
-- expect: none
-- because: A complete rebuild next to the live table with guarded drops first, then one atomic RENAME of both; the INSERT goes into the table created three lines above.
-- full rebuild of the catalogue, swapped in with a single rename
DROP TABLE IF EXISTS course_catalogue_new;
DROP TABLE IF EXISTS course_catalogue_old;

CREATE TABLE course_catalogue_new LIKE course_catalogue;

INSERT INTO course_catalogue_new
       (course_code, title, credits, faculty, enrolled, first_term, last_term)
SELECT c.course_code,
       c.title,
       c.credits,
       f.faculty_name,
       COUNT(e.student_id),
       MIN(e.term),
       MAX(e.term)
FROM   course c
JOIN   faculty f         ON f.faculty_id = c.faculty_id
LEFT   JOIN enrolment e  ON e.course_code = c.course_code
WHERE  c.published = 1
GROUP  BY c.course_code, c.title, c.credits, f.faculty_name;

RENAME TABLE course_catalogue     TO course_catalogue_old,
             course_catalogue_new TO course_catalogue;

DROP TABLE course_catalogue_old;
