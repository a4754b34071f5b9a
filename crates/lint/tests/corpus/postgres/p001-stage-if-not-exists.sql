-- form: script
-- expect: OM318 warning `INSERT INTO stg.fares`
CREATE TABLE IF NOT EXISTS stg.fares (trip_id bigint, fare numeric);
INSERT INTO stg.fares (trip_id, fare)
SELECT trip_id, fare FROM raw.fares WHERE day = %(day)s;

BEGIN;
DELETE FROM mart.fares WHERE trip_id IN (SELECT trip_id FROM stg.fares);
INSERT INTO mart.fares (trip_id, fare) SELECT trip_id, max(fare) FROM stg.fares GROUP BY trip_id;
COMMIT;
