-- form: script
-- expect: OM101 error `CURRENT_TIMESTAMP()`
CREATE OR REPLACE TABLE mart.open_ticket AS
SELECT ticket_id, state FROM app.ticket FOR SYSTEM_TIME AS OF TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR) WHERE state != 'closed';
