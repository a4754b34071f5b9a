-- form: script
-- expect: OM313 error `COPY raw.price`
BEGIN;
COPY raw.price FROM 's3://in/price/{{ ds }}/' IAM_ROLE default CSV;
COMMIT;
