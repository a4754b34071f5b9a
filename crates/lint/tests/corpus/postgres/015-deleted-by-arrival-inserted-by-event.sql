-- form: script
-- expect: OM403 error `r.received_at >= :interval_start AND r.received_at < :interval_end`
BEGIN;
DELETE FROM mart.meter_hour WHERE hour_start >= :interval_start AND hour_start < :interval_end;
INSERT INTO mart.meter_hour (meter_id, hour_start, kwh)
SELECT r.meter_id, date_trunc('hour', r.read_at), sum(r.kwh)
FROM ods.meter_read r
WHERE r.received_at >= :interval_start AND r.received_at < :interval_end
GROUP BY r.meter_id, date_trunc('hour', r.read_at);
COMMIT;
