-- form: script
-- expect: none
SET spark.sql.sources.partitionOverwriteMode=dynamic;
INSERT OVERWRITE TABLE mart.video_day PARTITION (play_day)
SELECT video_id, SUM(seconds) AS seconds, COUNT(DISTINCT viewer_id) AS viewers, play_day
FROM raw.play
WHERE play_day = '${day}'
GROUP BY video_id, play_day;
