-- form: script
-- expect: OM304 error `NOT EXISTS (SELECT 1 FROM core.device x WHERE x.device_id = d.device_id)`
BEGIN;
INSERT INTO core.device (device_id, model, os, first_seen)
SELECT d.device_id, MAX(d.model), MAX(d.os), MIN(d.seen_at)
FROM stg.device_ping d
WHERE NOT EXISTS (SELECT 1 FROM core.device x WHERE x.device_id = d.device_id)
GROUP BY d.device_id;
COMMIT;
