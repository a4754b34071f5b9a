-- form: script
-- expect: OM102 error `CURRENT_DATE()`
-- because: A retry after midnight or a repair weeks later makes new keys for the day it runs, leaving the wrong rows of the intended day in place.
-- Daily account snapshot, run by task SNAP_ACCOUNTS at 02:00
MERGE INTO CRM.ACCOUNT_SNAPSHOT AS t
USING (
  SELECT MD5(a.ACCOUNT_ID || '|' || CURRENT_DATE()::STRING)  AS SNAPSHOT_KEY,
         a.ACCOUNT_ID,
         a.SEGMENT,
         a.OWNER_ID,
         SUM(o.AMOUNT)                                       AS OPEN_AMOUNT,
         COUNT(o.OPPORTUNITY_ID)                             AS OPEN_COUNT
  FROM CRM.ACCOUNT AS a
  LEFT JOIN CRM.OPPORTUNITY AS o
    ON o.ACCOUNT_ID = a.ACCOUNT_ID
   AND o.IS_CLOSED = FALSE
  GROUP BY a.ACCOUNT_ID, a.SEGMENT, a.OWNER_ID
) AS s
ON t.SNAPSHOT_KEY = s.SNAPSHOT_KEY
WHEN MATCHED THEN UPDATE SET
  SEGMENT = s.SEGMENT,
  OWNER_ID = s.OWNER_ID,
  OPEN_AMOUNT = s.OPEN_AMOUNT,
  OPEN_COUNT = s.OPEN_COUNT
WHEN NOT MATCHED THEN INSERT
  (SNAPSHOT_KEY, ACCOUNT_ID, SEGMENT, OWNER_ID, OPEN_AMOUNT, OPEN_COUNT)
VALUES
  (s.SNAPSHOT_KEY, s.ACCOUNT_ID, s.SEGMENT, s.OWNER_ID, s.OPEN_AMOUNT, s.OPEN_COUNT);
