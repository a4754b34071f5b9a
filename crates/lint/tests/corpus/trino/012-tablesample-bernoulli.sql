-- form: script
-- expect: OM107 error `TABLESAMPLE BERNOULLI (10)`
DROP TABLE IF EXISTS hive.tmp.event_sample;
CREATE TABLE hive.tmp.event_sample AS
SELECT event_id, user_id, name
FROM hive.core.event TABLESAMPLE BERNOULLI (10)
WHERE ds = '{{ ds }}';
