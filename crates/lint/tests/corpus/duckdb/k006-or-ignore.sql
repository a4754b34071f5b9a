-- form: script
-- expect: OM302 error `INSERT OR IGNORE`
BEGIN TRANSACTION;
INSERT OR IGNORE INTO ref.airport (iata, name, lat, lon)
SELECT iata, name, lat, lon
FROM raw.airport_list
WHERE length(iata) = 3;
COMMIT;
