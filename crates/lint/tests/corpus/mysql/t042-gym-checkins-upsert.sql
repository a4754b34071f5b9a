-- form: script
-- expect: none
-- check-ins per club/day/hour.  PK (club_id, visit_day, visit_hour), all NOT NULL
-- counts are recomputed for the whole day, never added up
INSERT INTO fit.checkin_hour
    (club_id, visit_day, visit_hour, visits, members, first_seen_at)
SELECT v.club_id,
       v.visit_day,
       v.visit_hour,
       COUNT(*),
       COUNT(DISTINCT v.member_no),
       MIN(v.swiped_at)
FROM fit.turnstile v
WHERE v.visit_day = %(visit_day)s
  AND v.direction = 'IN'
GROUP BY v.club_id, v.visit_day, v.visit_hour
ON DUPLICATE KEY UPDATE
    visits        = VALUES(visits),
    members       = VALUES(members),
    first_seen_at = VALUES(first_seen_at);
