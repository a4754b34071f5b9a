-- form: script
-- expect: OM317 error `WHEN NOT MATCHED BY SOURCE THEN DELETE`
MERGE INTO `p.dw.ad_stats` AS t
USING (
  SELECT stat_date, ad_id, SUM(clicks) AS clicks
  FROM `p.raw.ad_stats`
  WHERE stat_date = @run_date
  GROUP BY stat_date, ad_id
) AS s
ON t.stat_date = s.stat_date AND t.ad_id = s.ad_id
WHEN MATCHED THEN UPDATE SET clicks = s.clicks
WHEN NOT MATCHED BY TARGET THEN INSERT (stat_date, ad_id, clicks) VALUES (s.stat_date, s.ad_id, s.clicks)
WHEN NOT MATCHED BY SOURCE THEN DELETE;
