-- form: script
-- expect: none
CREATE MATERIALIZED VIEW IF NOT EXISTS mart.top_pages
REFRESH EVERY 1 HOUR
ENGINE = MergeTree ORDER BY page
AS SELECT page, count() AS hits FROM raw.hit GROUP BY page;
