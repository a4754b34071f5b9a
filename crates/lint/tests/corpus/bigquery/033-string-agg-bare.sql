-- form: script
-- expect: OM205 error `STRING_AGG(DISTINCT category)`
-- because: DISTINCT is no order
CREATE OR REPLACE TABLE mart.venue AS
SELECT venue_id, STRING_AGG(DISTINCT category) AS categories
FROM raw.venue_category
GROUP BY venue_id;
