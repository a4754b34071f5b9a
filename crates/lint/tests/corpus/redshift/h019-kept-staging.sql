-- form: script
-- expect: OM318 warning `COPY stg.shipment`
CREATE TABLE IF NOT EXISTS stg.shipment (shipment_no BIGINT, ship_date DATE, weight_g INT);

COPY stg.shipment
FROM 's3://wms-export/{{ ds }}/shipment.parquet'
IAM_ROLE '{{ params.iam_role }}'
FORMAT AS PARQUET;

BEGIN;
DELETE FROM dwh.shipment WHERE ship_date = '{{ ds }}';
INSERT INTO dwh.shipment (shipment_no, ship_date, weight_g)
SELECT shipment_no, ship_date, weight_g
FROM stg.shipment
WHERE ship_date = '{{ ds }}';
COMMIT;
