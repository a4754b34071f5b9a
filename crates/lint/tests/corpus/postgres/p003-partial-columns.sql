-- form: script
-- expect: OM321 warning `DO UPDATE SET status = EXCLUDED.status`
INSERT INTO core.parcel (parcel_id, depot, weight_g, status)
SELECT parcel_id, max(depot), max(weight_g), max(status)
FROM stg.parcel
GROUP BY parcel_id
ON CONFLICT (parcel_id) DO UPDATE SET status = EXCLUDED.status;
