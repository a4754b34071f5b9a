-- form: script
-- expect: none
BEGIN;
SET LOCAL work_mem = '256MB';

DELETE FROM rpt.site_hour
 WHERE hour_start >= :'from'::timestamp AND hour_start < :'to'::timestamp;

INSERT INTO rpt.site_hour (site_code, hour_start, kwh)
SELECT s.site_code, h.hour_start, coalesce(sum(r.kwh), 0)
FROM   generate_series(:'from'::timestamp, :'to'::timestamp - interval '1 hour', interval '1 hour') AS h(hour_start)
CROSS  JOIN ref.site s
LEFT   JOIN raw.reading r
       ON r.site_code = s.site_code
      AND r.read_at >= h.hour_start AND r.read_at < h.hour_start + interval '1 hour'
GROUP  BY s.site_code, h.hour_start;
COMMIT;
