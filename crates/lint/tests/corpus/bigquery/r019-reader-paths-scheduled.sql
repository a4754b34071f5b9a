-- form: script
-- expect: none
-- because: @run_time is the scheduled run's own parameter (a backfill gets the old one), the day is replaced in one transaction, the array is ordered up to the unique hit_id and the other one is only counted; the clock words are in a comment and a string.
-- Scheduled query, every day 03:10. Backfills pass the historical @run_time.
-- Do NOT use CURRENT_DATE() here, see incident 2291.
DECLARE read_day DATE DEFAULT DATE_SUB(DATE(@run_time), INTERVAL 1 DAY);

BEGIN TRANSACTION;

DELETE FROM `news.mart.reader_day` WHERE day = read_day;

INSERT INTO `news.mart.reader_day` (day, reader_id, hits, sections, path, rule_note)
SELECT
  read_day,
  h.reader_id,
  COUNT(*) AS hits,
  ARRAY_LENGTH(ARRAY_AGG(DISTINCT h.section)) AS sections,
  ARRAY_AGG(STRUCT(h.article_id, h.hit_at) ORDER BY h.hit_at, h.hit_id) AS path,
  'replaces CURRENT_DATE() - 1 variant' AS rule_note
FROM `news.raw.hit` AS h                      -- hit_id: primary key
WHERE h.hit_at >= TIMESTAMP(read_day)
  AND h.hit_at <  TIMESTAMP(DATE_ADD(read_day, INTERVAL 1 DAY))
  AND h.section IS NOT NULL
GROUP BY h.reader_id;

COMMIT TRANSACTION;
