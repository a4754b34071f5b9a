-- form: script
-- expect: OM313 error `LOAD DATA LOCAL INFILE '/var/imports/fares.csv' INTO TABLE fare_landing`
LOAD DATA LOCAL INFILE '/var/imports/fares.csv'
INTO TABLE fare_landing
CHARACTER SET utf8mb4
FIELDS TERMINATED BY ';' OPTIONALLY ENCLOSED BY '"'
IGNORE 1 LINES
(route_no, fare_code, @valid_on, cents)
SET valid_on = STR_TO_DATE(@valid_on, '%d.%m.%Y');
