-- form: script
-- expect: OM304 error `t.scan_id IS NULL`
-- because: A scan that was corrected in the feed is already in the target, is skipped by the anti-join, and so the correction never lands.
-- Late scanner files are picked up again by widening the window; rows already loaded are skipped.
CREATE TABLE IF NOT EXISTS scans (
  scan_id BIGINT, gate VARCHAR, scanned_at TIMESTAMP, direction VARCHAR
);

INSERT INTO scans (scan_id, gate, scanned_at, direction)
SELECT s.scan_id, s.gate, s.scanned_at, s.direction
FROM landing.scan_feed AS s
LEFT JOIN scans AS t
       ON t.scan_id = s.scan_id
WHERE t.scan_id IS NULL
  AND s.scanned_at >= $window_start
  AND s.scanned_at <  $window_end;

ANALYZE scans;
