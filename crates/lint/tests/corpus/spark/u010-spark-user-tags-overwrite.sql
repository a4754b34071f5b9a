-- form: script
-- expect: OM409 error `INSERT OVERWRITE TABLE dws.user_tag`
-- because: static mode without a PARTITION clause wipes every other dt.
SET spark.sql.sources.partitionOverwriteMode=STATIC;
SET spark.sql.shuffle.partitions=400;

CREATE TABLE IF NOT EXISTS dws.user_tag (
  user_id   BIGINT,
  tag       STRING,
  weight    DECIMAL(10,4),
  dt        STRING
) USING orc PARTITIONED BY (dt);

WITH acts AS (
  SELECT user_id, tag, action, dt
  FROM dwd.content_action
  WHERE dt = '${bizdate}'
)
INSERT OVERWRITE TABLE dws.user_tag
SELECT user_id,
       tag,
       SUM(CASE action WHEN 'like' THEN 3 WHEN 'share' THEN 5 ELSE 1 END) AS weight,
       dt
FROM acts
GROUP BY user_id, tag, dt;
