-- form: script
-- expect: OM101 warning `CURRENT_DATE`
CREATE OR REPLACE TABLE derived.subscription_events AS
SELECT subscription_id, event, event_date
FROM raw.subscription_changes
WHERE IF(CAST(@date AS DATE) IS NULL, event_date < CURRENT_DATE - 7, event_date = @date);
