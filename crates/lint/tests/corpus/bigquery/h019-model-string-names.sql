-- form: model
-- expect: none
/* oncemore
kind: full
key: [query_name]
*/
-- RAND() and CURRENT_DATE() appear in texts only
SELECT q.query_name, q.owner, 'SELECT RAND(), CURRENT_DATE()' AS example, COUNT(r.run_no) AS runs
FROM raw.saved_query AS q
LEFT JOIN raw.query_run AS r ON r.query_name = q.query_name
GROUP BY q.query_name, q.owner
