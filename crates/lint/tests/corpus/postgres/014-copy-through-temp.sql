-- form: script
-- expect: none
BEGIN;
CREATE TEMP TABLE tariff_in (LIKE billing.tariff INCLUDING DEFAULTS) ON COMMIT DROP;
COPY tariff_in (tariff_code, valid_on, cents_per_kwh)
FROM '/var/imports/tariff.csv' WITH (FORMAT csv, HEADER true);
DELETE FROM billing.tariff t USING tariff_in i WHERE t.tariff_code = i.tariff_code AND t.valid_on = i.valid_on;
INSERT INTO billing.tariff (tariff_code, valid_on, cents_per_kwh)
SELECT tariff_code, valid_on, max(cents_per_kwh) FROM tariff_in GROUP BY tariff_code, valid_on;
COMMIT;
