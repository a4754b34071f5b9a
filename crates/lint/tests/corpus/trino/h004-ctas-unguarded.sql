-- form: script
-- expect: OM314 warning `CREATE TABLE hive.mart.user_cohort`
CREATE TABLE hive.mart.user_cohort
WITH (
    format = 'ORC',
    partitioned_by = ARRAY['cohort_month']
)
AS
SELECT user_id, country, cohort_month
FROM hive.raw.users
WHERE deleted_at IS NULL;
