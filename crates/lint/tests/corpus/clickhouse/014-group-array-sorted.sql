-- form: script
-- expect: none
CREATE OR REPLACE TABLE web.paths_sorted
ENGINE = MergeTree ORDER BY session_id
AS
SELECT session_id,
       arrayMap(x -> x.2, arraySort(groupArray((seq_no, page)))) AS pages,
       length(groupArray(page)) AS hits
FROM web.hits
WHERE day = {day:Date}
GROUP BY session_id;
