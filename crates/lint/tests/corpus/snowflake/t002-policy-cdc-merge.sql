-- form: script
-- expect: OM201 warning `ROW_NUMBER() OVER (PARTITION BY src:policyNo::varchar ORDER BY src:changedOn::date DESC)`
-- because: changed_on is only a date, several changes of one policy on one day tie and an arbitrary image wins
-- TASK body: POLICY_CDC_APPLY   (owner: uw-data)
-- consumes RAW.POLICY_STREAM, one row per change coming out of the mainframe unload
MERGE INTO CORE.POLICY AS tgt
USING (
    SELECT
        src:policyNo::varchar        AS policy_no
      , src:holder::varchar          AS holder_name
      , src:premium::number(12,2)    AS premium
      , src:status::varchar          AS status
      , src:changedOn::date          AS changed_on
    FROM RAW.POLICY_STREAM
    WHERE METADATA$ACTION = 'INSERT'
      AND src:policyNo::varchar IS NOT NULL
    -- latest image wins
    QUALIFY ROW_NUMBER() OVER (PARTITION BY src:policyNo::varchar
                               ORDER BY src:changedOn::date DESC) = 1
) AS s
ON tgt.policy_no = s.policy_no
WHEN MATCHED AND s.changed_on >= tgt.changed_on THEN UPDATE SET
    holder_name = s.holder_name
  , premium     = s.premium
  , status      = s.status
  , changed_on  = s.changed_on
WHEN NOT MATCHED THEN INSERT (policy_no, holder_name, premium, status, changed_on)
    VALUES (s.policy_no, s.holder_name, s.premium, s.status, s.changed_on);
