-- form: script
-- expect: OM313 error `COPY landing.parcel_event`
SET client_encoding = 'UTF8';
COPY landing.parcel_event (parcel_no, event_code, event_at, depot)
FROM '/var/imports/parcel_event.csv'
WITH (FORMAT csv, HEADER true, NULL '');
ANALYZE landing.parcel_event;
