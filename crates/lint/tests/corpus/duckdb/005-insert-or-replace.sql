-- form: script
-- expect: none
INSERT OR REPLACE INTO shop_hours (shop_id, weekday, opens, closes)
SELECT shop_id, weekday, min(opens), max(closes)
FROM staging.hours
GROUP BY shop_id, weekday;
