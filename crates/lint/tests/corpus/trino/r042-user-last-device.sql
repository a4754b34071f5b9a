-- form: script
-- expect: none
-- because: Whole-table replace in one statement from all input; max_by breaks ties with the unique event_id, the counted array needs no order, listagg is ordered by its own value.
CREATE OR REPLACE TABLE iceberg.identity.user_profile
WITH (format = 'PARQUET')
AS
WITH logins AS (
    SELECT
        event_id                      -- primary key of the login log
      , user_id
      , device_type
      , country
      , logged_in_at
    FROM iceberg.identity.login_event
    WHERE result = 'OK'
      AND user_id IS NOT NULL
)
SELECT
    user_id
  , min(logged_in_at)                                             AS first_login_at
  , max(logged_in_at)                                             AS last_login_at
  , max_by(device_type, ROW(logged_in_at, event_id))              AS last_device
  , max_by(country,     ROW(logged_in_at, event_id))              AS last_country
  , cardinality(array_agg(DISTINCT device_type))                  AS device_kinds
  , listagg(DISTINCT country, ',') WITHIN GROUP (ORDER BY country) AS countries
  , approx_distinct(event_id)                                     AS logins_estimate
FROM logins
GROUP BY user_id;
