-- form: script
-- expect: none
-- because: Day deleted and inserted in one transaction (InnoDB), the upsert assigns and does not add, GROUP_CONCAT is DISTINCT and ordered by its own value.
SET @day := '{{ ds }}';
SET SESSION group_concat_max_len = 1048576;

START TRANSACTION;

DELETE FROM loans_daily WHERE loan_day = @day;

INSERT INTO loans_daily
  (loan_day, branch_id, loans, readers, genres)
SELECT
  l.loan_day,
  l.branch_id,
  COUNT(*),
  COUNT(DISTINCT l.reader_id),
  GROUP_CONCAT(DISTINCT b.genre ORDER BY b.genre SEPARATOR '; ')
FROM loan AS l
JOIN book AS b ON b.book_id = l.book_id
WHERE l.loan_day = @day
GROUP BY l.loan_day, l.branch_id
ON DUPLICATE KEY UPDATE
  loans   = VALUES(loans),
  readers = VALUES(readers),
  genres  = VALUES(genres);

COMMIT;
