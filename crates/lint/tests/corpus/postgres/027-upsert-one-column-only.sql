-- form: script
-- expect: OM321 warning `DO UPDATE SET last_seen = EXCLUDED.last_seen`
INSERT INTO fleet.vehicle (vin, plate, depot, colour, last_seen)
SELECT vin, max(plate), max(depot), max(colour), max(seen_at)
FROM fleet_raw.vehicle_ping
GROUP BY vin
ON CONFLICT (vin) DO UPDATE SET last_seen = EXCLUDED.last_seen;
