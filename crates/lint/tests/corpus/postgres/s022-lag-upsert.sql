-- form: script
-- expect: OM407 error `lag(odometer) OVER (PARTITION BY vehicle_id ORDER BY ping_at)`
INSERT INTO mart.leg (vehicle_id, ping_at, leg_m)
SELECT vehicle_id, ping_at, odometer - lag(odometer) OVER (PARTITION BY vehicle_id ORDER BY ping_at)
FROM raw.ping -- key: vehicle_id, ping_at
WHERE ping_at >= :a AND ping_at < :b
ON CONFLICT (vehicle_id, ping_at) DO UPDATE SET leg_m = excluded.leg_m;
