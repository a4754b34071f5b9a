-- form: script
-- expect: none
INSERT OVERWRITE TABLE dws.user_tags PARTITION (dt = '${dt}')
SELECT user_id,
       sort_array(collect_set(tag))              AS tags,
       size(collect_set(tag))                    AS tag_cnt,
       max_by(city, struct(login_time, login_id)) AS last_city
FROM dwd.user_tag_di
WHERE dt = '${dt}'
GROUP BY user_id;
