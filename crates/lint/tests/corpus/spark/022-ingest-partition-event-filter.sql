-- form: script
-- expect: OM406 warning `PARTITION (ingest_date = '${run_date}')`
INSERT OVERWRITE TABLE mart.checkins PARTITION (ingest_date = '${run_date}')
SELECT checkin_id, venue_id, checked_in_at
FROM raw.checkins
WHERE checkin_date >= date_sub('${run_date}', 1) AND checkin_date < '${run_date}';
