-- form: script
-- expect: OM313 error `COPY f_play_event`
COPY f_play_event
FROM 's3://acme-stream/play_event/manifest.json'
CREDENTIALS 'aws_iam_role=arn:aws:iam::000000000000:role/loader'
MANIFEST
GZIP
DELIMITER '|'
TIMEFORMAT 'auto'
MAXERROR 10;
