-- form: script
-- expect: none
LOAD DATA LOCAL INFILE '/in/rates.csv'
REPLACE INTO TABLE fx_rate
FIELDS TERMINATED BY ','
IGNORE 1 LINES
(rate_date, currency, rate);
