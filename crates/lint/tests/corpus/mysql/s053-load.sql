-- form: script
-- expect: OM313 error `LOAD DATA LOCAL INFILE '/in/price_{{ ds }}.csv' INTO TABLE shop.price`
LOAD DATA LOCAL INFILE '/in/price_{{ ds }}.csv' INTO TABLE shop.price FIELDS TERMINATED BY ';' IGNORE 1 LINES (sku, price, day);
