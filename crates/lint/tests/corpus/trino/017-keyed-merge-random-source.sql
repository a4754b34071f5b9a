-- form: script
-- expect: OM307 error `USING (…`
MERGE INTO iceberg.mart.listing_price AS t
USING (
    SELECT listing_id, price_day, price, count(*) AS quotes
    FROM hive.core.price_quote
    WHERE price_day = DATE '{{ ds }}'
    GROUP BY listing_id, price_day, price
) AS s
ON t.listing_id = s.listing_id AND t.price_day = s.price_day
WHEN MATCHED THEN UPDATE SET price = s.price, quotes = s.quotes
WHEN NOT MATCHED THEN INSERT (listing_id, price_day, price, quotes) VALUES (s.listing_id, s.price_day, s.price, s.quotes);
