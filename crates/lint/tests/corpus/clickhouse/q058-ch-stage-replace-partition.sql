-- form: script
-- expect: none
-- because: The staging table is truncated before it is filled with exactly the day, and REPLACE PARTITION swaps the day atomically; argMax is tie-broken by view_id, uniqExact is order-free.
-- parameters: day (Date). Table stats.page_day: MergeTree PARTITION BY view_day ORDER BY (site, path)
CREATE TABLE IF NOT EXISTS stats.page_day_stage AS stats.page_day;

TRUNCATE TABLE stats.page_day_stage;

INSERT INTO stats.page_day_stage (view_day, site, path, views, visitors, last_title)
SELECT
    view_day,
    site,
    path,
    count()                                AS views,
    uniqExact(visitor_id)                  AS visitors,
    argMax(title, (viewed_at, view_id))    AS last_title
FROM web.page_view
WHERE view_day = {day:Date}
GROUP BY view_day, site, path;

ALTER TABLE stats.page_day REPLACE PARTITION {day:Date} FROM stats.page_day_stage;

TRUNCATE TABLE stats.page_day_stage;
