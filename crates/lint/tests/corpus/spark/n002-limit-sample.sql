-- form: script
-- expect: OM107 error `TABLESAMPLE (10 PERCENT)`
CREATE OR REPLACE TABLE ml.train_set USING DELTA AS
SELECT user_id, features, label
FROM ml.labelled TABLESAMPLE (10 PERCENT);
