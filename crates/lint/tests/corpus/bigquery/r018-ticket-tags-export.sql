-- form: script
-- expect: OM205 error `STRING_AGG(DISTINCT tt.tag, ', ')`
-- because: the tags are joined in whatever order the workers return them, so the stored text differs from run to run
DECLARE report_day DATE DEFAULT @report_day;

BEGIN TRANSACTION;

DELETE FROM support.ticket_daily WHERE closed_date = report_day;

INSERT INTO support.ticket_daily (closed_date, ticket_id, queue, replies, tag_list, first_reply_minutes)
WITH closed AS (
  SELECT ticket_id, queue, opened_at, closed_at
  FROM zendesk.ticket
  WHERE closed_at >= TIMESTAMP(report_day)
    AND closed_at <  TIMESTAMP(DATE_ADD(report_day, INTERVAL 1 DAY))
),
tags AS (
  SELECT t.ticket_id,
         STRING_AGG(DISTINCT tt.tag, ', ') AS tag_list
  FROM closed AS t
  JOIN zendesk.ticket_tag AS tt USING (ticket_id)
  GROUP BY t.ticket_id
),
replies AS (
  SELECT c.ticket_id,
         COUNT(*) AS replies,
         MIN(TIMESTAMP_DIFF(r.sent_at, c.opened_at, MINUTE)) AS first_reply_minutes
  FROM closed AS c
  JOIN zendesk.reply AS r
    ON r.ticket_id = c.ticket_id
   AND r.sent_at <= c.closed_at
  GROUP BY c.ticket_id
)
SELECT DATE(c.closed_at), c.ticket_id, c.queue, IFNULL(r.replies, 0), g.tag_list, r.first_reply_minutes
FROM closed AS c
LEFT JOIN tags AS g USING (ticket_id)
LEFT JOIN replies AS r USING (ticket_id);

COMMIT TRANSACTION;
