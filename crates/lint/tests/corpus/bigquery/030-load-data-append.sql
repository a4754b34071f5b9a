-- form: script
-- expect: OM313 error `LOAD DATA INTO landing.sensor`
LOAD DATA INTO landing.sensor
FROM FILES (
  format = 'PARQUET',
  uris = ['gs://acme-lake/sensor/*.parquet']
);
