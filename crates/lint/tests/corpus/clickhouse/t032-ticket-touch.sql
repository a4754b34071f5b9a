-- form: script
-- expect: OM105 error `generateUUIDv4()`
-- expect: OM204 warning `argMax(gate, scanned_at)`
-- expect: OM204 warning `argMax(result_code, scanned_at)`
-- expect: OM408 warning `'20260301'`
-- because: a new id for the same row on each run scanned_at has whole seconds, two scans in one second tie and either gate may win the partition that is replaced is a fixed day while the rows are chosen by parameter
-- last touch per concert ticket, rebuilt for one show day
DROP TABLE IF EXISTS venue.touch_tmp;
CREATE TABLE venue.touch_tmp AS venue.last_touch;

INSERT INTO venue.touch_tmp
(
    touch_id, show_day, ticket_no, last_gate, last_result
)
SELECT
    generateUUIDv4()                    AS touch_id,
    show_day,
    ticket_no,
    argMax(gate, scanned_at)            AS last_gate,
    argMax(result_code, scanned_at)     AS last_result
FROM venue.gate_scan   -- scanned_at DateTime (seconds)
WHERE show_day = {show_day:Date}
  AND ticket_no != ''
GROUP BY show_day, ticket_no;

ALTER TABLE venue.last_touch REPLACE PARTITION ID '20260301' FROM venue.touch_tmp;
