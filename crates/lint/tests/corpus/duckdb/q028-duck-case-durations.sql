-- form: script
-- expect: none
-- because: A full replace of a bounded computation: ordered list, tie-broken arg_max, lead by a per-case unique step number, two-argument age() is pure; today() is only in a comment.
-- Full rebuild. Do not use today() here: durations are measured to closed_at only.
CREATE OR REPLACE TABLE case_duration AS
WITH steps AS (
  SELECT case_id,
         step_no,                       -- unique within a case
         step_name,
         entered_at,
         lead(entered_at) OVER (PARTITION BY case_id ORDER BY step_no) AS left_at
  FROM case_step
),
per_case AS (
  SELECT case_id,
         list(step_name ORDER BY step_no)              AS path,
         arg_max(step_name, (entered_at, step_no))     AS last_step,
         sum(date_diff('minute', entered_at, left_at)) AS minutes_in_steps,
         count(*) FILTER (WHERE left_at IS NULL)       AS open_steps
  FROM steps
  GROUP BY case_id
)
SELECT c.case_id,
       c.opened_at,
       c.closed_at,
       age(c.closed_at, c.opened_at)  AS open_for,
       md5(c.case_id || ':' || c.region) AS case_key,
       p.path,
       p.last_step,
       p.minutes_in_steps,
       p.open_steps
FROM case_header AS c
JOIN per_case AS p USING (case_id)
ORDER BY c.case_id;
