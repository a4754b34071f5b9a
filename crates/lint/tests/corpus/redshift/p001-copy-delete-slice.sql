-- form: script
-- expect: none
BEGIN;
DELETE FROM raw.impression WHERE event_day = '{{ ds }}';
COPY raw.impression FROM 's3://b/impression/{{ ds }}/' IAM_ROLE '{{ role }}' FORMAT AS PARQUET;
COMMIT;
