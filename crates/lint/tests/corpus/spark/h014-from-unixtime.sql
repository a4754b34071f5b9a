-- form: script
-- expect: OM109 warning `from_unixtime(ts_sec, 'yyyy-MM-dd')`
CREATE OR REPLACE TABLE silver.click AS
SELECT click_id, campaign, from_unixtime(ts_sec, 'yyyy-MM-dd') AS click_day
FROM bronze.click;
