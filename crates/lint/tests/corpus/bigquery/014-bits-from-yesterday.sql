-- form: script
-- expect: OM303 warning `derived.users_last_seen`
BEGIN TRANSACTION;
DELETE FROM derived.users_last_seen WHERE submission_date = @submission_date;
INSERT INTO derived.users_last_seen (submission_date, user_id, days_seen_bits)
WITH today AS (
  SELECT DISTINCT user_id, 1 AS seen
  FROM derived.users_day
  WHERE submission_date = @submission_date
),
yesterday AS (
  SELECT user_id, days_seen_bits
  FROM derived.users_last_seen
  WHERE submission_date = DATE_SUB(@submission_date, INTERVAL 1 DAY)
)
SELECT
  @submission_date,
  COALESCE(t.user_id, y.user_id),
  MOD(COALESCE(y.days_seen_bits, 0) * 2, 268435456) + COALESCE(t.seen, 0)
FROM today t
FULL JOIN yesterday y ON y.user_id = t.user_id;
COMMIT TRANSACTION;
