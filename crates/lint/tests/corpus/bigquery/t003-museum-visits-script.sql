-- form: script
-- expect: none
-- Scheduled by composer: params = {run_date: DATE}
-- Rewrites exactly one visit_date; safe to call any number of times.
DECLARE n INT64 DEFAULT 0;

BEGIN TRANSACTION;

DELETE FROM `museum-dw.mart.visits_daily`
WHERE visit_date = @run_date;

INSERT INTO `museum-dw.mart.visits_daily`
  (visit_date, gate, visitors, last_ticket, loaded_at)
SELECT
  visit_date,
  gate,
  COUNT(DISTINCT ticket_id),
  ARRAY_AGG(ticket_id ORDER BY scanned_at DESC, ticket_id LIMIT 1)[OFFSET(0)],
  CURRENT_TIMESTAMP()
FROM `museum-dw.raw.scans`
WHERE visit_date = @run_date
  AND NOT is_staff
GROUP BY visit_date, gate;

SET n = @@row_count;
COMMIT TRANSACTION;

SELECT FORMAT('visits_daily %t: %d rows', @run_date, n) AS msg;
