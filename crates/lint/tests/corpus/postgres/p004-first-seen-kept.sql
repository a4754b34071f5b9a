-- form: script
-- expect: none
INSERT INTO core.device (device_id, model, first_seen_at, last_seen_at)
SELECT device_id, max(model), min(seen_at), max(seen_at)
FROM stg.sighting
GROUP BY device_id
ON CONFLICT (device_id) DO UPDATE
SET model = EXCLUDED.model,
    first_seen_at = least(core.device.first_seen_at, EXCLUDED.first_seen_at),
    last_seen_at = greatest(core.device.last_seen_at, EXCLUDED.last_seen_at);
