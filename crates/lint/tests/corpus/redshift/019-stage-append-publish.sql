-- form: script
-- expect: OM318 warning `COPY staging.telemetry`
-- because: the staging table is never emptied, so a failed run's rows are published too
CREATE TABLE IF NOT EXISTS staging.telemetry (vin VARCHAR(17), sent_at TIMESTAMP, speed SMALLINT);

COPY staging.telemetry
FROM 's3://acme-lake/telemetry/{{ ds }}/'
IAM_ROLE '{{ params.iam_role }}'
CSV GZIP;

BEGIN;
DELETE FROM core.telemetry WHERE sent_at >= '{{ ds }}' AND sent_at < DATEADD(day, 1, '{{ ds }}');
INSERT INTO core.telemetry (vin, sent_at, speed)
SELECT vin, sent_at, MAX(speed)
FROM staging.telemetry
WHERE sent_at >= '{{ ds }}' AND sent_at < DATEADD(day, 1, '{{ ds }}')
GROUP BY vin, sent_at;
COMMIT;
