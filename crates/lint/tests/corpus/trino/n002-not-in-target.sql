-- form: script
-- expect: OM304 error `e.event_id NOT IN (SELECT event_id FROM lake.core.events)`
INSERT INTO lake.core.events (event_id, kind, at)
SELECT e.event_id, e.kind, e.at
FROM lake.raw.events e
WHERE e.event_id NOT IN (SELECT event_id FROM lake.core.events);
