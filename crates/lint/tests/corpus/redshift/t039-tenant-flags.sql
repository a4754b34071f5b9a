-- form: script
-- expect: OM205 error `listagg(f.flag_name, ',')`
-- expect: OM204 warning `any_value(f.owner_email)`
-- because: no order inside listagg: the stored string differs from run to run an arbitrary owner of the flags
-- feature flags per tenant as one string, used as a group label in the BI tool
begin transaction;

delete from product.tenant_flag_label
where snapshot_day = '{{ ds }}';

insert into product.tenant_flag_label (snapshot_day, tenant_id, flag_list, flags, any_owner)
select f.snapshot_day,
       f.tenant_id,
       listagg(f.flag_name, ',')          as flag_list,
       count(*)                           as flags,
       any_value(f.owner_email)           as any_owner
from product.tenant_flag f
where f.snapshot_day = '{{ ds }}'
  and f.enabled
group by f.snapshot_day, f.tenant_id;

commit transaction;
