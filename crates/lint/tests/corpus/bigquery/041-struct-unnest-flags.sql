-- form: script
-- expect: none
CREATE TEMP FUNCTION bucket(x INT64) AS (IF(x > 100, '100+', CAST(DIV(x, 10) * 10 AS STRING)));

CREATE OR REPLACE TABLE mart.score_bucket AS
SELECT
  game_id,
  bucket(score) AS bucket,
  COUNT(*) AS players,
  COUNTIF(EXISTS (SELECT 1 FROM UNNEST(badges) AS b WHERE b.kind = 'now')) AS with_badge
FROM raw.game_results
GROUP BY game_id, bucket;
