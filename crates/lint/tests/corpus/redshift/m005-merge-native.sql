-- form: script
-- expect: none
create temp table upd as
select member_id, email, tier
from (
    select member_id, email, tier,
           row_number() over (partition by member_id order by extracted_at desc, event_id desc) as rn
    from stg.member
) where rn = 1;

merge into core.member
using upd
on core.member.member_id = upd.member_id
when matched then update set email = upd.email, tier = upd.tier
when not matched then insert (member_id, email, tier) values (upd.member_id, upd.email, upd.tier);
