-- form: script
-- expect: none
BEGIN;
DROP TABLE IF EXISTS stg.clicks_new;
CREATE TABLE stg.clicks_new (LIKE mart.clicks);
COPY stg.clicks_new FROM 's3://b/clicks/{{ ds }}/' IAM_ROLE '{{ role }}' PARQUET;
DELETE FROM mart.clicks WHERE click_day = '{{ ds }}';
INSERT INTO mart.clicks (click_id, click_day, url) SELECT click_id, click_day, url FROM stg.clicks_new WHERE click_day = '{{ ds }}';
COMMIT;
