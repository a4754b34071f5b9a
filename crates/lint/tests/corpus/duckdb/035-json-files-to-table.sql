-- form: script
-- expect: OM110 warning `read_json_auto('data/events/*.json')`
CREATE OR REPLACE TABLE events AS
SELECT id, type, actor.login AS actor, created_at
FROM read_json_auto('data/events/*.json')
WHERE type <> 'WatchEvent';
