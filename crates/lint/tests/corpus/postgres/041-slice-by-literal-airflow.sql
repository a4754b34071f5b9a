-- form: script
-- expect: none
BEGIN;
DELETE FROM mart.lift_ticket_day WHERE ticket_day = '{{ ds }}';
INSERT INTO mart.lift_ticket_day (ticket_day, resort, tickets, revenue)
SELECT t.ticket_day, r.resort, count(*), sum(t.price)
FROM ods.lift_ticket t
JOIN ref.resort r USING (resort_id)
WHERE t.ticket_day = '{{ ds }}'
GROUP BY t.ticket_day, r.resort;
COMMIT;
