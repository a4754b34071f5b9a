-- form: script
-- expect: none
create or replace transient table mart.post_tag as
select p.post_id,
       f.index as tag_pos,
       lower(f.value::string) as tag
from raw.post p,
     lateral flatten(input => p.body:tags) f
where f.value is not null
qualify row_number() over (partition by p.post_id, lower(f.value::string) order by f.index) = 1;
