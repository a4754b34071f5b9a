-- form: script
-- expect: none
DROP TABLE IF EXISTS metrics.bids_day_build;
CREATE TABLE metrics.bids_day_build AS metrics.bids_day;
INSERT INTO metrics.bids_day_build (day, campaign_id, bids, spend)
SELECT day, campaign_id, count(), sum(price)
FROM metrics.bids
WHERE day = {day:Date}
GROUP BY day, campaign_id;
ALTER TABLE metrics.bids_day REPLACE PARTITION {day:Date} FROM metrics.bids_day_build;
DROP TABLE metrics.bids_day_build;
