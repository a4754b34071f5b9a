-- form: script
-- expect: none
-- dws_video_play_1d  每日视频播放汇总
-- 调度参数: ${hiveconf:bizdate}
set hive.exec.dynamic.partition.mode=nonstrict;
set hive.auto.convert.join=true;

insert overwrite table dws.dws_video_play_1d partition (dt='${hiveconf:bizdate}')
select video_id,
       author_id,
       play_cnt,
       finish_cnt,
       rank() over (partition by author_id order by play_cnt desc) as play_rank,
       cities,
       'unix_timestamp() not used' as remark,
       unix_timestamp(first_play, 'yyyy-MM-dd HH:mm:ss') as first_play_ts
from (
    select p.video_id,
           v.author_id,
           count(1)                                       as play_cnt,
           sum(if(p.finished = 1, 1, 0))                  as finish_cnt,
           min(p.play_time)                               as first_play,
           concat_ws(',', sort_array(collect_set(p.city))) as cities
    from   dwd.dwd_video_play_di p
    join   dim.dim_video_df v
      on   v.video_id = p.video_id and v.dt = '${hiveconf:bizdate}'
    where  p.dt = '${hiveconf:bizdate}'
    group by p.video_id, v.author_id
) t;
