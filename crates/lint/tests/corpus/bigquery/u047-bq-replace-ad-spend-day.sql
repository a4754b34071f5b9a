-- form: script
-- expect: none
-- Swap one day of ad spend in a single statement.
-- ON FALSE = nothing matches: old rows of the day go, new rows come.
MERGE `growth.ad_spend` AS t
USING (
  SELECT
    spend_date,
    network,
    campaign_id,
    SUM(cost)        AS cost,
    SUM(clicks)      AS clicks,
    SUM(impressions) AS impressions
  FROM `raw_ads.network_report`
  WHERE spend_date = @ds
  GROUP BY spend_date, network, campaign_id
) AS s
ON FALSE
WHEN NOT MATCHED BY SOURCE AND t.spend_date = @ds THEN
  DELETE
WHEN NOT MATCHED BY TARGET THEN
  INSERT (spend_date, network, campaign_id, cost, clicks, impressions, loaded_at)
  VALUES (s.spend_date, s.network, s.campaign_id, s.cost, s.clicks, s.impressions, CURRENT_TIMESTAMP());
