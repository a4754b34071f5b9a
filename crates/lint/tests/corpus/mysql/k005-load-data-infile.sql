-- form: script
-- expect: OM313 error `LOAD DATA…`
SET SESSION sql_log_bin = 0;
LOAD DATA LOCAL INFILE '/data/in/price.csv'
INTO TABLE price_feed
CHARACTER SET utf8mb4
FIELDS TERMINATED BY ';' OPTIONALLY ENCLOSED BY '"'
LINES TERMINATED BY '\n'
IGNORE 1 LINES
(sku, price, currency);
