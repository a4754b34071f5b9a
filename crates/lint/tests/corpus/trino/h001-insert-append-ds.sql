-- form: script
-- expect: OM301 error `INSERT INTO hive.mart.ad_clicks_daily`
INSERT INTO hive.mart.ad_clicks_daily
SELECT
    campaign_id,
    approx_distinct(user_id) AS users,
    count(*) AS clicks,
    ds
FROM hive.raw.ad_clicks
WHERE ds = '{{ ds }}'
GROUP BY campaign_id, ds
