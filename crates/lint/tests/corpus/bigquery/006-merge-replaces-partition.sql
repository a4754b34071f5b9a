-- form: script
-- expect: none
DECLARE run_day DATE DEFAULT @run_day;

MERGE INTO mart.ad_revenue AS T
USING (
  SELECT revenue_day, placement_id, SUM(micros) AS micros
  FROM raw.ad_events
  WHERE revenue_day = run_day
  GROUP BY revenue_day, placement_id
) AS S
ON FALSE
WHEN NOT MATCHED BY SOURCE AND T.revenue_day = run_day THEN DELETE
WHEN NOT MATCHED THEN
  INSERT (revenue_day, placement_id, micros) VALUES (S.revenue_day, S.placement_id, S.micros);
