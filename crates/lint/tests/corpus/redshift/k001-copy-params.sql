-- form: script
-- expect: OM313 error `COPY {{ params.schema }}.web_click`
COPY {{ params.schema }}.web_click (click_id, session_id, url, clicked_at)
FROM 's3://{{ params.bucket }}/clicks/{{ ds }}/'
IAM_ROLE '{{ params.role }}'
FORMAT AS JSON 'auto'
TIMEFORMAT 'auto' GZIP
COMPUPDATE OFF STATUPDATE OFF;
