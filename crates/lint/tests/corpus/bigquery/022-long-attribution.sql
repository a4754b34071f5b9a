-- form: script
-- expect: OM201 warning `ROW_NUMBER() OVER (PARTITION BY conversion_id ORDER BY touched_at DESC)`
BEGIN TRANSACTION;
DELETE FROM mart.attribution WHERE conversion_date BETWEEN @start_date AND @end_date;
INSERT INTO mart.attribution (conversion_id, conversion_date, channel, campaign, revenue)
WITH conversions AS (
  SELECT conversion_id, client_id, conversion_date, converted_at, revenue
  FROM raw.conversions
  WHERE conversion_date BETWEEN @start_date AND @end_date
),
touches AS (
  SELECT client_id, touched_at, channel, campaign
  FROM raw.touches
  WHERE touch_date BETWEEN DATE_SUB(@start_date, INTERVAL 30 DAY) AND @end_date
),
joined AS (
  SELECT
    c.conversion_id,
    c.conversion_date,
    c.revenue,
    t.channel,
    t.campaign,
    t.touched_at
  FROM conversions c
  JOIN touches t
    ON t.client_id = c.client_id
   AND t.touched_at <= c.converted_at
),
ranked AS (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY conversion_id ORDER BY touched_at DESC) AS recency
  FROM joined
)
SELECT conversion_id, conversion_date, channel, campaign, revenue
FROM ranked
WHERE recency = 1;
COMMIT TRANSACTION;
