-- form: script
-- expect: OM105 error `generateUUIDv4()`
CREATE OR REPLACE TABLE mail.outgoing
ENGINE = MergeTree ORDER BY recipient
AS
SELECT generateUUIDv4() AS mail_id, recipient, template
FROM mail.queue
WHERE queue_day = {day:Date};
