-- form: script
-- expect: OM314 warning `CREATE TABLE hive.tmp.experiment_users`
CREATE TABLE hive.tmp.experiment_users
WITH (format = 'ORC')
AS
SELECT user_id, min(assigned_at) AS assigned_at, arbitrary_bucket
FROM hive.core.assignment
WHERE experiment = 'search_rank_7'
GROUP BY user_id, arbitrary_bucket;
