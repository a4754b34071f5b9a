-- form: script
-- expect: OM409 error `INSERT OVERWRITE TABLE ads.click_hour`
-- because: In static mode a dynamic-partition overwrite of a datasource table clears every partition first, so running one day leaves only that day.
-- spark-sql -f agg_click.sql --hivevar dt=2024-03-01
SET spark.sql.shuffle.partitions=400;
SET spark.sql.sources.partitionOverwriteMode=static;

CREATE TABLE IF NOT EXISTS ads.click_hour (
  campaign_id BIGINT,
  click_hour  INT,
  clicks      BIGINT,
  spend_micro BIGINT,
  dt          STRING
)
USING PARQUET
PARTITIONED BY (dt);

INSERT OVERWRITE TABLE ads.click_hour PARTITION (dt)
SELECT
  c.campaign_id,
  c.click_hour,
  count(1)            AS clicks,
  sum(c.cost_micro)   AS spend_micro,
  c.dt
FROM ads_raw.click c
LEFT ANTI JOIN ads_raw.bot_ip b
  ON b.ip = c.ip
WHERE c.dt = '${dt}'
GROUP BY c.campaign_id, c.click_hour, c.dt;
