-- form: script
-- expect: OM405 error `p.play_date >= DATE_SUB(@d, INTERVAL 2 DAY) AND p.play_date <= @d`
-- because: one day is deleted but three days are inserted, so two days double on each run
-- royalties / plays per track and day
-- players report offline plays up to two days late
SET @d = '{{ ds }}';

START TRANSACTION;

DELETE FROM royalty.track_plays
WHERE play_date = @d;

INSERT INTO royalty.track_plays (play_date, track_id, territory, plays)
SELECT p.play_date,
       p.track_id,
       p.territory,
       COUNT(*)
FROM   royalty.play_raw p
WHERE  p.play_date >= DATE_SUB(@d, INTERVAL 2 DAY)
  AND  p.play_date <= @d
  AND  p.seconds >= 30
GROUP  BY p.play_date, p.track_id, p.territory;

COMMIT;
