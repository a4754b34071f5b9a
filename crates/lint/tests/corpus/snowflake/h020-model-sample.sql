-- form: model
-- expect: OM107 error `SAMPLE (5)`
/* oncemore
kind: full
key: [call_id]
*/
SELECT c.call_id, c.agent, c.duration_s
FROM raw.call AS c SAMPLE (5)
