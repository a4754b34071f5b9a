-- form: script
-- expect: OM402 warning `l.attempted_at BETWEEN '{{ data_interval_start.strftime("%Y-%m-%d %H:%M:%S") }}' …`
-- because: BETWEEN on timestamps, a login on the border is counted in both windows.
-- 15-minute login counts for the fraud screen (SnowflakeOperator, schedule */15)
MERGE INTO risk.login_window t
USING (
    SELECT
        '{{ data_interval_start.strftime("%Y-%m-%d %H:%M:%S") }}'::TIMESTAMP_NTZ AS window_start,
        l.ip_address,
        COUNT(*)                   AS attempts,
        COUNT_IF(NOT l.success)    AS failed,
        COUNT(DISTINCT l.user_id)  AS users
    FROM auth.login_attempt l
    WHERE l.attempted_at BETWEEN '{{ data_interval_start.strftime("%Y-%m-%d %H:%M:%S") }}'
                             AND '{{ data_interval_end.strftime("%Y-%m-%d %H:%M:%S") }}'
      AND l.ip_address IS NOT NULL
    GROUP BY l.ip_address
) s
   ON  t.window_start = s.window_start
   AND t.ip_address   = s.ip_address
WHEN MATCHED THEN UPDATE SET
    t.attempts = s.attempts,
    t.failed   = s.failed,
    t.users    = s.users
WHEN NOT MATCHED THEN INSERT (window_start, ip_address, attempts, failed, users)
    VALUES (s.window_start, s.ip_address, s.attempts, s.failed, s.users);
