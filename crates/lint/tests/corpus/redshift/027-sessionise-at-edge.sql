-- form: script
-- expect: OM407 error `LAG(hit_at) OVER (PARTITION BY visitor_id ORDER BY hit_at, hit_id)`
-- because: the first hit of the day has no predecessor
BEGIN;
DELETE FROM mart.hit_gap WHERE hit_at >= :interval_start AND hit_at < :interval_end;
INSERT INTO mart.hit_gap (hit_id, visitor_id, hit_at, gap_s)
SELECT hit_id, visitor_id, hit_at,
       DATEDIFF(second, LAG(hit_at) OVER (PARTITION BY visitor_id ORDER BY hit_at, hit_id), hit_at)
FROM ods.hit
WHERE hit_at >= :interval_start AND hit_at < :interval_end;
COMMIT;
