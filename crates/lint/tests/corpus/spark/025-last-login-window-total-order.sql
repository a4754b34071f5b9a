-- form: script
-- expect: none
INSERT OVERWRITE TABLE dwd.user_login PARTITION (dt = '${dt}')
SELECT user_id, login_id, channel, brand
FROM (
  SELECT user_id, login_id, channel, brand,
         row_number() OVER (PARTITION BY user_id ORDER BY ts DESC, login_id DESC) AS rn
  FROM ods.login_log
  WHERE dt = '${dt}'
) t
WHERE rn = 1;
