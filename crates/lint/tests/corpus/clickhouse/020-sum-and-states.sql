-- form: script
-- expect: none
DROP TABLE IF EXISTS ads.campaign_day_new;
CREATE TABLE ads.campaign_day_new
ENGINE = MergeTree ORDER BY (day, campaign_id)
AS
SELECT day, campaign_id, sum(cost) AS cost, uniqExact(user_id) AS users, countIf(clicked) AS clicks
FROM ads.impressions
WHERE day >= {from:Date} AND day < {to:Date}
GROUP BY day, campaign_id;
