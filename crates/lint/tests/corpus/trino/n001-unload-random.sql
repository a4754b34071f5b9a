-- form: script
-- expect: OM105 error `uuid()`
CREATE OR REPLACE TABLE lake.gold.tickets AS
SELECT uuid() AS ticket_key, ticket_no, queue, opened_at
FROM lake.silver.tickets;
