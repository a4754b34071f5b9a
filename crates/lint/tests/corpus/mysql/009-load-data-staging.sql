-- form: script
-- expect: none
TRUNCATE TABLE staging_fares;
LOAD DATA LOCAL INFILE '/var/imports/fares.csv'
INTO TABLE staging_fares
FIELDS TERMINATED BY ';'
IGNORE 1 LINES
(route_no, fare_code, valid_on, cents);

REPLACE INTO fare (route_no, fare_code, valid_on, cents)
SELECT route_no, fare_code, valid_on, MAX(cents)
FROM staging_fares
GROUP BY route_no, fare_code, valid_on;
