-- form: script
-- expect: OM203 warning `DISTINCT ON (a.person_id)`
BEGIN;
DELETE FROM mart.person_address;
INSERT INTO mart.person_address (person_id, street, city, zip)
SELECT DISTINCT ON (a.person_id)
       a.person_id, a.street, a.city, a.zip
FROM core.address a
WHERE a.kind = 'home'
ORDER BY a.person_id, a.valid_from DESC NULLS LAST;
COMMIT;
