-- form: script
-- expect: OM310 error `ALTER TABLE stats.visits DROP PARTITION {month:String}`
ALTER TABLE stats.visits DROP PARTITION {month:String};
INSERT INTO stats.visits (visit_id, month, url, seconds)
SELECT visit_id, toString(toYYYYMM(started_at)), url, seconds
FROM raw.visit
WHERE toString(toYYYYMM(started_at)) = {month:String};
