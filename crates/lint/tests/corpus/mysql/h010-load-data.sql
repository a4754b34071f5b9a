-- form: script
-- expect: OM313 error `LOAD DATA LOCAL INFILE '/var/lib/mysql-files/export/readings.csv' INTO TABLE meter_reading`
LOAD DATA LOCAL INFILE '/var/lib/mysql-files/export/readings.csv' INTO TABLE meter_reading
FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"'
LINES TERMINATED BY '\n'
IGNORE 1 LINES
(meter_no, @read_on, kwh)
SET read_on = STR_TO_DATE(@read_on, '%d.%m.%Y');
