-- form: script
-- expect: OM105 error `rand()`
CREATE OR REPLACE TABLE qa.review_sample AS
SELECT ticket_id, agent_id, closed_on
FROM support.ticket
WHERE closed_on >= '${from}' AND closed_on < '${to}'
ORDER BY rand()
LIMIT 200;
