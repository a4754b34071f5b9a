-- form: script
-- expect: OM107 error `USING SAMPLE 20%`
CREATE OR REPLACE TABLE ml.train AS
FROM ml.labelled
SELECT doc_id, label, tokens
WHERE lang = 'en'
USING SAMPLE 20%;
