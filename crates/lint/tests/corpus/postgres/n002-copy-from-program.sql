-- form: script
-- expect: OM313 error `COPY raw.rates`
SET client_min_messages TO warning;
COPY raw.rates (day, currency, rate)
FROM '/srv/in/rates_{{ ds_nodash }}.csv'
WITH (FORMAT csv, HEADER true, DELIMITER ';');
