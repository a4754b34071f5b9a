-- form: script
-- expect: OM204 warning `(array_agg(referrer_host))[1]`
-- expect: OM309 error `views = pv.views + excluded.views`
-- because: the first element of an unordered array is any of the referrers, so the stored one changes from run to run a retry of the same window adds its page views a second time on top of the stored count
with hits as (
    select page_id,
           (hit_at at time zone 'UTC')::date as visit_day,
           count(*)                          as views,
           max(hit_at)                       as last_hit_at,
           (array_agg(referrer_host))[1]     as sample_referrer
      from web.page_hit
     where hit_at >= %(window_start)s
       and hit_at <  %(window_end)s
       and not is_bot
     group by page_id, (hit_at at time zone 'UTC')::date
)
insert into bi.page_visit_daily as pv
       (page_id, visit_day, views, last_hit_at, sample_referrer)
select page_id, visit_day, views, last_hit_at, sample_referrer
  from hits
on conflict (page_id, visit_day) do update
   set views       = pv.views + excluded.views,
       last_hit_at = greatest(pv.last_hit_at, excluded.last_hit_at),
       sample_referrer = excluded.sample_referrer;
