-- form: script
-- expect: OM205 error `groupArray(page)`
CREATE OR REPLACE TABLE web.paths
ENGINE = MergeTree ORDER BY session_id
AS
SELECT session_id, arrayStringConcat(groupArray(page), ' > ') AS path
FROM web.hits
WHERE day = {day:Date}
GROUP BY session_id;
