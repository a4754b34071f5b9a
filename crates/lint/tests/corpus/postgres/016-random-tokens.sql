-- form: script
-- expect: OM105 error `gen_random_uuid()`
BEGIN;
DELETE FROM survey.invitation WHERE wave = :wave;
INSERT INTO survey.invitation (invitation_id, wave, panelist_id, language)
SELECT gen_random_uuid(), :wave, p.panelist_id, coalesce(p.language, 'en')
FROM survey.panelist p
WHERE p.joined_on < :wave_start
  AND NOT p.opted_out;
COMMIT;
