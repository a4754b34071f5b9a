-- form: script
-- expect: none
MERGE INTO main.silver.subscription AS target
USING (
  SELECT subscription_id, MAX(plan) AS plan, MAX(seats) AS seats
  FROM main.bronze.subscription_feed
  GROUP BY subscription_id
) AS source
ON target.subscription_id = source.subscription_id
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *;
