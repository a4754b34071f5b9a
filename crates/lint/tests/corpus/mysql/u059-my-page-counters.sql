-- form: script
-- expect: OM309 error `hits = hits + VALUES(hits)`
-- expect: OM309 error `bytes_out = bytes_out + VALUES(bytes_out)`
-- because: an hour that is run twice is counted twice.
-- hourly roll up of page hits, run by the event scheduler + by hand after incidents
SET @from := '2024-01-01 00:00:00'; -- overwritten by wrapper (sed)

INSERT INTO stats.page_counter (page_id, country, hits, bytes_out, last_hit_at)
SELECT  l.page_id,
        l.country,
        COUNT(*),
        SUM(l.bytes_sent),
        MAX(l.hit_at)
FROM    logs.access_log AS l
WHERE   l.hit_at >= @from
  AND   l.hit_at <  @from + INTERVAL 1 HOUR
  AND   l.http_status < 400
  AND   l.page_id IS NOT NULL
  AND   l.country IS NOT NULL
GROUP BY l.page_id, l.country
ON DUPLICATE KEY UPDATE
        hits        = hits + VALUES(hits),
        bytes_out   = bytes_out + VALUES(bytes_out),
        last_hit_at = GREATEST(last_hit_at, VALUES(last_hit_at));
