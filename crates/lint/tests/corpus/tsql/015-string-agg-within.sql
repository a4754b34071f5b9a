-- form: script
-- expect: none
SET XACT_ABORT ON;
BEGIN TRAN;
TRUNCATE TABLE mart.CourseTeachers;
INSERT INTO mart.CourseTeachers (CourseId, Teachers)
SELECT ct.CourseId, STRING_AGG(t.LastName, ', ') WITHIN GROUP (ORDER BY t.LastName)
FROM ods.CourseTeacher AS ct
JOIN ods.Teacher AS t ON t.TeacherId = ct.TeacherId
GROUP BY ct.CourseId;
COMMIT TRAN;
