-- form: script
-- expect: none
INSERT INTO page_day (page_id, day, views)
SELECT page_id, DATE(at), COUNT(*) FROM hit WHERE at >= ? AND at < ? GROUP BY page_id, DATE(at)
AS new
ON DUPLICATE KEY UPDATE views = new.views;
