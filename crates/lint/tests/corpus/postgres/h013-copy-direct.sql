-- form: script
-- expect: OM313 error `COPY public.trips_raw`
\set ON_ERROR_STOP on
COPY public.trips_raw FROM '/var/data/yellow_tripdata.csv' CSV HEADER;
ANALYZE public.trips_raw;
