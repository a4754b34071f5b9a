-- form: script
-- expect: none
CREATE OR REPLACE TABLE mart.cart ENGINE = MergeTree ORDER BY cart_id AS
SELECT cart_id,
       arraySort(groupArray(sku))             AS skus,
       length(groupUniqArray(sku))            AS different,
       arrayStringConcat(arraySort(groupUniqArray(brand)), ',') AS brands
FROM raw.cart_line
GROUP BY cart_id;
