-- form: script
-- expect: OM301 error `INSERT INTO iceberg.research.coding_sample`
-- expect: OM107 error `TABLESAMPLE BERNOULLI (5)`
-- expect: OM206 warning `ORDER BY a.answered_on`
-- because: append without replacing the week: a retry adds a second sample other rows each run answered_on is a day, many answers tie at the cut, any 500 are kept
-- weekly quality sample of survey answers for manual coding
-- {{ ds }} = monday
INSERT INTO iceberg.research.coding_sample
       (week_of, answer_id, survey_id, question_no, answer_text, lang_code)
WITH answers AS (
    SELECT answer_id, survey_id, question_no, answer_text, answered_on
    FROM   iceberg.research.survey_answer TABLESAMPLE BERNOULLI (5)
    WHERE  answered_on >= DATE '{{ ds }}'
      AND  answered_on <  DATE '{{ ds }}' + INTERVAL '7' DAY
      AND  length(trim(answer_text)) > 0
),
lang AS (
    SELECT survey_id, max(lang_code) AS lang_code
    FROM   iceberg.research.survey
    GROUP  BY survey_id
)
SELECT DATE '{{ ds }}',
       a.answer_id,
       a.survey_id,
       a.question_no,
       a.answer_text,
       l.lang_code
FROM   answers a
JOIN   lang l ON l.survey_id = a.survey_id
ORDER  BY a.answered_on
LIMIT  500;
