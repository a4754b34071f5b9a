-- form: script
-- expect: none
-- because: A full replace from an unbounded source; both row_numbers have total orders (date spine within one promotion; version unique per promotion, stated); key is a hash; the clock is an audit column, a DDL default and a string.
-- Full rebuild of the promotion calendar; small, so no incremental logic.
CREATE OR REPLACE TABLE `retail_mart.dim_promotion_day`
(
  promo_day_key INT64 NOT NULL,
  promo_id STRING NOT NULL,
  promo_day DATE NOT NULL,
  day_no INT64,
  headline STRING,
  built_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP()
)
PARTITION BY promo_day
OPTIONS (description = 'One row per promotion and day. Not filtered by CURRENT_DATE on purpose.')
AS
SELECT
  FARM_FINGERPRINT(CONCAT(p.promo_id, '|', CAST(d AS STRING))) AS promo_day_key,
  p.promo_id,
  d AS promo_day,
  ROW_NUMBER() OVER (PARTITION BY p.promo_id ORDER BY d) AS day_no,
  p.headline,
  CURRENT_TIMESTAMP() AS built_at
FROM (
  SELECT promo_id, headline, start_day, end_day
  FROM `retail_raw.promotion`
  WHERE is_test IS NOT TRUE
  -- promotion_version is unique within a promo_id
  QUALIFY ROW_NUMBER() OVER (PARTITION BY promo_id ORDER BY promotion_version DESC) = 1
) AS p
CROSS JOIN UNNEST(GENERATE_DATE_ARRAY(p.start_day, p.end_day)) AS d;
