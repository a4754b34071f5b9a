-- form: script
-- expect: none
-- course progress of a day, pk of lms_mart.progress_day = (day, student_id, course_id)
INSERT INTO lms_mart.progress_day
       (day, student_id, course_id, lessons_done, minutes, best_score, refreshed_at)
SELECT  e.day,
        e.student_id,
        e.course_id,
        COUNT(DISTINCT e.lesson_id),
        SUM(e.minutes),
        MAX(e.score),
        NOW()
FROM    lms.lesson_event AS e
WHERE   e.day = %(day)s
  AND   e.student_id IS NOT NULL
  AND   e.course_id  IS NOT NULL
GROUP BY e.day, e.student_id, e.course_id
ON DUPLICATE KEY UPDATE
        lessons_done = VALUES(lessons_done),
        minutes      = VALUES(minutes),
        best_score   = VALUES(best_score),
        refreshed_at = NOW();
