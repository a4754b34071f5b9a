-- form: script
-- expect: OM314 warning `CREATE TABLE flights`
CREATE TABLE flights AS
SELECT carrier, flight, origin, dest, dep_delay
FROM staging.flights
WHERE cancelled = 0;
