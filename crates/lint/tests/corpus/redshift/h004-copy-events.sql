-- form: script
-- expect: OM313 error `COPY staging_area.app_events`
COPY staging_area.app_events
FROM 's3://udacity-dend/log_data/{{ ds }}'
CREDENTIALS 'aws_iam_role={{ params.iam }}'
REGION 'us-west-2'
FORMAT AS JSON 's3://udacity-dend/log_json_path.json'
TIMEFORMAT AS 'epochmillisecs';
