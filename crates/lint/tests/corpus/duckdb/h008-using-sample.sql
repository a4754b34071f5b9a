-- form: script
-- expect: OM107 error `USING SAMPLE 5 PERCENT (bernoulli)`
CREATE OR REPLACE TABLE train_rows AS
SELECT row_id, label, f1, f2 FROM features USING SAMPLE 5 PERCENT (bernoulli);
