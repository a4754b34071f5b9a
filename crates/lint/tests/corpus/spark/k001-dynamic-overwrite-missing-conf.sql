-- form: script
-- expect: OM301 error `INSERT INTO TABLE dws.user_login_1d`
set hive.exec.dynamic.partition.mode=nonstrict;
set spark.sql.shuffle.partitions=400;

INSERT INTO TABLE dws.user_login_1d PARTITION (dt='${bizdate}')
SELECT  user_id
       ,count(1)              AS login_cnt
       ,max(login_time)       AS last_login_time
FROM    dwd.user_login_di
WHERE   dt = '${bizdate}'
GROUP BY user_id;
