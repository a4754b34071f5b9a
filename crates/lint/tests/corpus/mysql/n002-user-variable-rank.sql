-- form: script
-- expect: OM206 error `LIMIT 100`
CREATE OR REPLACE VIEW x_dummy AS SELECT 1;
DROP TABLE IF EXISTS mail_batch;
CREATE TABLE mail_batch AS
SELECT c.customer_id, c.email
FROM customer c
WHERE c.opted_in = 1
LIMIT 100;
