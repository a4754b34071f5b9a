-- form: script
-- expect: OM308 warning `T.campaign = S.campaign`
MERGE mkt.spend_by_campaign T
USING (
  SELECT s.spend_date, c.campaign, SUM(s.cost) AS cost
  FROM raw.spend s
  LEFT JOIN raw.campaign c ON c.campaign_id = s.campaign_id
  GROUP BY s.spend_date, c.campaign
) S
ON T.spend_date = S.spend_date AND T.campaign = S.campaign
WHEN MATCHED THEN UPDATE SET cost = S.cost
WHEN NOT MATCHED THEN INSERT (spend_date, campaign, cost) VALUES (S.spend_date, S.campaign, S.cost);
