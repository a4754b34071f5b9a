-- form: script
-- expect: OM112 warning `ML.PREDICT(MODEL ml.churn…`
CREATE OR REPLACE TABLE mart.churn_score AS
SELECT customer_id, predicted_churned
FROM ML.PREDICT(MODEL ml.churn, (SELECT customer_id, tenure, usage FROM ml.churn_features));
