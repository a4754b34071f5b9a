-- form: script
-- expect: OM201 warning `ROW_NUMBER() OVER (PARTITION BY p.policy_no ORDER BY p.last_updated DESC)`
-- expect: OM101 error `SYSDATE`
-- expect: OM101 error `SYSDATE`
-- because: last_updated is a DATE of one-second grain and not unique per policy, so two changes in one second leave the winner to chance. The window is yesterday by the database clock: a run that failed on Friday and is repeated on Monday never reads Thursday's changes.
MERGE INTO dwh.d_policy d
USING (
  SELECT policy_no, holder_name, status_code, premium, last_updated
    FROM (
          SELECT p.policy_no,
                 p.holder_name,
                 p.status_code,
                 p.premium,
                 p.last_updated,
                 ROW_NUMBER() OVER (PARTITION BY p.policy_no
                                    ORDER BY p.last_updated DESC) AS rn
            FROM src.policy_change p
           WHERE p.last_updated >= TRUNC(SYSDATE) - 1
             AND p.last_updated <  TRUNC(SYSDATE)
             AND p.policy_no IS NOT NULL
         )
   WHERE rn = 1
) s
ON (d.policy_no = s.policy_no)
WHEN MATCHED THEN UPDATE SET
  d.holder_name  = s.holder_name,
  d.status_code  = s.status_code,
  d.premium      = s.premium,
  d.last_updated = s.last_updated,
  d.dw_update_dt = SYSDATE
  WHERE s.last_updated >= d.last_updated
WHEN NOT MATCHED THEN INSERT
  (policy_no, holder_name, status_code, premium, last_updated, dw_insert_dt)
VALUES
  (s.policy_no, s.holder_name, s.status_code, s.premium, s.last_updated, SYSDATE);

COMMIT;
