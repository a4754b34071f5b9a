-- form: script
-- expect: none
CREATE OR REPLACE VIEW `acme.reporting.purchases` AS
SELECT
  PARSE_DATE('%Y%m%d', event_date) AS day,
  user_pseudo_id,
  (SELECT value.string_value FROM UNNEST(event_params) WHERE key = 'transaction_id') AS transaction_id,
  ecommerce.purchase_revenue AS revenue
FROM `acme.analytics_9.events_*`
WHERE event_name = 'purchase';
