-- form: script
-- expect: OM110 warning `read_csv('s3://helpdesk-exports/current/tickets_*.csv', header = true, union_by_ …`
-- expect: OM204 warning `arg_max(status, updated_at)`
-- because: The glob over a 'current' folder reads whatever lies there at that moment, so the same run repeated later loads other bytes. Two versions of a ticket with the same updated_at tie in arg_max and either status may be stored.
INSTALL httpfs;
LOAD httpfs;

CREATE OR REPLACE TABLE raw_ticket AS
SELECT *
FROM read_csv('s3://helpdesk-exports/current/tickets_*.csv',
              header = true, union_by_name = true);

CREATE OR REPLACE TABLE ticket_status AS
SELECT ticket_id,
       min(opened_at)                     AS opened_at,
       max(updated_at)                    AS updated_at,
       arg_max(status, updated_at)        AS status,
       count(*)                           AS versions
FROM raw_ticket
WHERE ticket_id IS NOT NULL
GROUP BY ticket_id;
