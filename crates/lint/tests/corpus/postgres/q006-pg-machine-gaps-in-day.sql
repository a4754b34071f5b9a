-- form: script
-- expect: none
-- because: Slice replaced in one transaction; the lag is partitioned by the slice column and ordered by the primary key's last part; NOT EXISTS is on another table; clock words only occur in comment and strings.
-- Idle gaps per machine and production day. A gap never spans two production days,
-- the line is stopped at 06:00. (Was: WHERE d > now() - interval '2 days', see OPS-311.)
BEGIN;
SET LOCAL work_mem = '512MB';

DELETE FROM plant.idle_gap
 WHERE production_day = $1::date;

INSERT INTO plant.idle_gap
       (machine_id, production_day, cycle_no, gap_seconds, remark)
SELECT machine_id, production_day, cycle_no, gap_seconds,
       CASE WHEN gap_seconds > 3600 THEN 'longer than now usual' ELSE 'random stop' END
  FROM (
        SELECT c.machine_id,
               c.production_day,
               c.cycle_no,
               extract(epoch FROM c.started_at
                 - lag(c.ended_at) OVER (PARTITION BY c.machine_id, c.production_day
                                         ORDER BY c.cycle_no)) AS gap_seconds
          FROM plant.cycle AS c        -- primary key (machine_id, production_day, cycle_no)
         WHERE c.production_day = $1::date
       ) AS g
 WHERE gap_seconds IS NOT NULL
   AND NOT EXISTS (SELECT 1
                     FROM plant.planned_stop AS p
                    WHERE p.machine_id = g.machine_id
                      AND p.production_day = g.production_day
                      AND p.covers_cycle = g.cycle_no);

COMMIT;
