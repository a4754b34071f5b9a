-- form: script
-- expect: OM304 error `NOT EXISTS ( SELECT 1 FROM awards.transaction_search ts WHERE ts.transaction_id = t.id )`
BEGIN;
INSERT INTO awards.transaction_search (transaction_id, award_id, action_date, obligation)
SELECT t.id, t.award_id, t.action_date, t.federal_action_obligation
FROM   raw.transaction_normalized AS t
WHERE  t.is_fpds
  AND  NOT EXISTS (
        SELECT 1
        FROM awards.transaction_search ts
        WHERE ts.transaction_id = t.id
  );
COMMIT;
