-- form: script
-- expect: none
DROP TABLE IF EXISTS rpt.CourseStaff;
SELECT c.CourseId,
       STUFF((SELECT ', ' + s.Name FROM edu.Staff s WHERE s.CourseId = c.CourseId ORDER BY s.Name, s.StaffId FOR XML PATH('')), 1, 2, '') AS Staff
INTO rpt.CourseStaff
FROM edu.Course c;
