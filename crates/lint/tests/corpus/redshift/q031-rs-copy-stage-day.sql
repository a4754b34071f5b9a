-- form: script
-- expect: none
-- because: COPY fills a temp table created in the run from a path with the interval; the day is deleted and inserted in one transaction; every column that is written is in the ROW_NUMBER order or partition, so tied rows are identical; GETDATE() is an audit column; Redshift CREATE/DROP are transactional.
BEGIN TRANSACTION;

CREATE TEMP TABLE stage_click (LIKE web.click INCLUDING DEFAULTS);

COPY stage_click (click_id, user_id, page, clicked_on, clicked_at)
FROM 's3://acme-curated/click/dt={{ ds }}/'
IAM_ROLE '{{ params.role_arn }}'
FORMAT AS PARQUET;

DELETE FROM web.click
WHERE clicked_on = '{{ ds }}';

INSERT INTO web.click (click_id, user_id, page, clicked_on, clicked_at, etl_inserted_at)
SELECT click_id, user_id, page, clicked_on, clicked_at, GETDATE()
FROM (
  SELECT click_id, user_id, page, clicked_on, clicked_at,
         ROW_NUMBER() OVER (
           PARTITION BY click_id
           ORDER BY clicked_at DESC, user_id, page, clicked_on
         ) AS rn
  FROM stage_click
  WHERE clicked_on = '{{ ds }}'
) AS d
WHERE rn = 1;

DROP TABLE stage_click;

END TRANSACTION;
