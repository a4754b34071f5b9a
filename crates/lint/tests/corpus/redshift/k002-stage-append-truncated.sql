-- form: script
-- expect: OM301 error `INSERT INTO edw.shipment_fact`
begin transaction;
truncate table stg.shipment_in;

copy stg.shipment_in
from 's3://acme-in/shipment/{{ ds }}/'
iam_role 'arn:aws:iam::000000000000:role/loader'
delimiter '|' gzip;

INSERT INTO edw.shipment_fact (shipment_no, carrier_code, shipped_on, weight_kg)
SELECT shipment_no, upper(carrier_code), shipped_on, weight_g / 1000.0
FROM stg.shipment_in
WHERE shipment_no IS NOT NULL;
end transaction;
