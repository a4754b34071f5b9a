-- form: script
-- expect: none
insert overwrite into reporting.store (store_no, store_name, opened_on)
select store_no, max(store_name), min(opened_on)
from raw.store_master
where is_deleted = false
group by store_no;
