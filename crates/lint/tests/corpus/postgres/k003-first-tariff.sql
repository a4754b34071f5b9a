-- form: script
-- expect: OM203 warning `distinct on (m.meter_no)`
begin;
delete from energy.meter_tariff;
insert into energy.meter_tariff (meter_no, tariff_code, valid_from)
select distinct on (m.meter_no)
       m.meter_no,
       m.tariff_code,
       m.valid_from
from   import.meter_contract m
where  m.cancelled_at is null
order  by m.meter_no, m.valid_from desc;
commit;
