-- form: script
-- expect: OM204 warning `arg_max(status, updated_at)`
CREATE OR REPLACE TABLE mart.parcel_now AS
SELECT parcel_no,
       arg_max(status, updated_at) AS status,
       max(updated_at)             AS status_since
FROM raw.parcel_scan
GROUP BY parcel_no;
