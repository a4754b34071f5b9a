-- form: script
-- expect: none
CREATE OR REPLACE TABLE `proj.ga4.sessions`
PARTITION BY session_date
CLUSTER BY country AS
WITH ev AS (
  SELECT
    PARSE_DATE('%Y%m%d', event_date) AS session_date,
    user_pseudo_id,
    (SELECT value.int_value FROM UNNEST(event_params) WHERE key = 'ga_session_id') AS ga_session_id,
    geo.country AS country,
    event_name
  FROM `proj.analytics_123.events_*`
)
SELECT session_date, user_pseudo_id, ga_session_id,
       MIN(country) AS country,
       COUNTIF(event_name = 'page_view') AS page_views
FROM ev
GROUP BY session_date, user_pseudo_id, ga_session_id;
