-- form: script
-- expect: OM111 warning `SELECT MAX(_TABLE_SUFFIX) FROM `retail-bi.landing.price_feed_*` WHERE _TABLE_SUF …`
-- expect: OM201 warning `ROW_NUMBER() OVER ( PARTITION BY f.store_id, f.article_no ORDER BY f.valid_from DESC )`
-- because: re-running the job of 5 March after the feed of 6 March has landed builds the list from another shard two prices of one article that start on the same day tie, and either may win
-- rebuild of the price list used by the storefront
CREATE OR REPLACE TABLE `retail-bi.mart.price_list`
CLUSTER BY store_id
AS
WITH feed AS (
  SELECT
    store_id,
    article_no,
    CAST(net_price AS NUMERIC) AS net_price,
    currency,
    valid_from
  FROM `retail-bi.landing.price_feed_*`
  WHERE _TABLE_SUFFIX = (
    SELECT MAX(_TABLE_SUFFIX)
    FROM `retail-bi.landing.price_feed_*`
    WHERE _TABLE_SUFFIX NOT LIKE '%tmp%'
  )
)
SELECT
  f.store_id,
  f.article_no,
  f.net_price,
  f.currency,
  f.valid_from,
  a.brand_name
FROM feed AS f
LEFT JOIN `retail-bi.mart.article` AS a   -- article_no is unique there
  ON a.article_no = f.article_no
QUALIFY ROW_NUMBER() OVER (
  PARTITION BY f.store_id, f.article_no
  ORDER BY f.valid_from DESC
) = 1;
