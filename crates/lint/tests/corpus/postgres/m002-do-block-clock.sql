-- form: script
-- expect: OM101 error `CURRENT_DATE`
DO $$
BEGIN
    DELETE FROM rpt.open_ticket_age;

    INSERT INTO rpt.open_ticket_age (queue, tickets, oldest_days)
    SELECT t.queue,
           count(*),
           max(CURRENT_DATE - t.opened_on)
    FROM   helpdesk.ticket t
    WHERE  t.closed_on IS NULL
    GROUP  BY t.queue;
END;
$$;
