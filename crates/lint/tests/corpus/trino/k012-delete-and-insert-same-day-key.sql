-- form: script
-- expect: none
SELECT
    user_id,
    count_if(action = 'play')  AS plays,
    count_if(action = 'skip')  AS skips
FROM hive.dwd.player_event
WHERE dt = '{{ ds }}'
GROUP BY user_id
ORDER BY plays DESC, user_id
