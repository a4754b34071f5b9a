-- form: script
-- expect: none
CREATE OR REPLACE VIEW web.daily_uniques AS
SELECT toDate(ts, 'UTC') AS day, site, uniq(visitor_id) AS visitors
FROM web.hits_raw
GROUP BY day, site;
