-- form: script
-- expect: none
-- Partition exchange for one business day (&1 = YYYYMMDD)
WHENEVER SQLERROR EXIT SQL.SQLCODE

TRUNCATE TABLE lck.locker_use_ex;

INSERT /*+ APPEND */ INTO lck.locker_use_ex
       (use_date, locker_id, compartment, parcels, avg_dwell_min)
SELECT e.use_date,
       e.locker_id,
       e.compartment,
       COUNT(*),
       ROUND(AVG(e.dwell_min))
FROM   lck.locker_event e
WHERE  e.use_date = TO_DATE('&1', 'YYYYMMDD')
AND    EXISTS (SELECT 1 FROM lck.locker l
               WHERE l.locker_id = e.locker_id AND l.status <> 'DECOMM')
GROUP BY e.use_date, e.locker_id, e.compartment;

COMMIT;

ALTER TABLE lck.locker_use
  EXCHANGE PARTITION p_&1 WITH TABLE lck.locker_use_ex
  WITHOUT VALIDATION;

-- sysdate only in the log text
PROMPT locker_use &1 exchanged (sysdate see spool header)
