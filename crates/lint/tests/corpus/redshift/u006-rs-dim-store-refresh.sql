-- form: script
-- expect: OM311 error `truncate table dw.dim_store`
-- because: TRUNCATE commits at once in Redshift, the begin/commit around it protects nothing.
-- full refresh dim_store (small, ~4k rows)
begin transaction;

truncate table dw.dim_store;

insert into dw.dim_store (store_id, store_name, region_code, opened_on, is_franchise)
select s.store_id,
       initcap(s.name),
       coalesce(r.region_code, 'NA'),
       s.opened_on,
       case when s.owner_type = 'F' then true else false end
from stage.pos_store s
left join stage.region r on r.region_id = s.region_id
where s.store_id is not null;

commit transaction;
analyze dw.dim_store;
