-- form: script
-- expect: OM313 error `COPY dwh.songplay_event`
-- because: Redshift COPY does not remember files, so a retried or cleared task loads the day's file into the fact table a second time.
-- task: load_songplays   (s3 key rendered by Airflow)
SET query_group TO 'etl';

COPY dwh.songplay_event
  (event_id, user_id, song_id, level, session_id, played_at)
FROM 's3://lake-prod/log_data/{{ execution_date.year }}/{{ execution_date.month }}/{{ ds }}-events.json'
IAM_ROLE '{{ var.value.redshift_role }}'
JSON 's3://lake-prod/log_json_path.json'
REGION 'eu-west-1'
TIMEFORMAT AS 'epochmillisecs'
TRUNCATECOLUMNS BLANKSASNULL EMPTYASNULL;

ANALYZE dwh.songplay_event;
