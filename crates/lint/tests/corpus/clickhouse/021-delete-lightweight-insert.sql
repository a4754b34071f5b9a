-- form: script
-- expect: OM310 error `DELETE FROM ads.click_day`
DELETE FROM ads.click_day WHERE day = {day:Date};
INSERT INTO ads.click_day (day, campaign_id, clicks)
SELECT day, campaign_id, count()
FROM ads.click
WHERE day = {day:Date}
GROUP BY day, campaign_id;
