-- form: script
-- expect: OM303 error `price_history`
-- because: the second run reads the table that already holds the day and adds the day again
-- keep a growing history of competitor prices in one file
CREATE OR REPLACE TABLE price_history AS
SELECT
    shop,
    ean,
    price_cents,
    scraped_on
FROM price_history
UNION ALL
SELECT
    s.shop,
    s.ean,
    CAST(round(s.price * 100) AS BIGINT) AS price_cents,
    s.scraped_on
FROM scrape_result AS s
WHERE s.scraped_on = CAST($day AS DATE)
  AND s.price > 0;
