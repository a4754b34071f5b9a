-- form: script
-- expect: OM110 warning `EXTERNAL_QUERY("eu.prod-mysql", """SELECT id, email FROM users WHERE deleted = 0""")`
CREATE OR REPLACE TABLE stage.users AS
SELECT id, email
FROM EXTERNAL_QUERY("eu.prod-mysql", """SELECT id, email FROM users WHERE deleted = 0""");
