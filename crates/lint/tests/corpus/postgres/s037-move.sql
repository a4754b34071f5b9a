-- form: script
-- expect: none
WITH gone AS (DELETE FROM app.event WHERE created_on < :keep_from RETURNING id, created_on, payload)
INSERT INTO archive.event (id, created_on, payload) SELECT id, created_on, payload FROM gone;
