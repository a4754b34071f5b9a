-- form: script
-- expect: OM307 warning `using ( select r.shipment_no, r.leg, r.probe_day, r.min_temp, r.max_temp, r.brea …`
-- expect: OM308 warning `d.leg = s.leg`
-- because: resent reports give several source rows for one key: error, or an arbitrary row leg is NULL for direct shipments, NULL never matches and the row is inserted again on each run
create table if not exists pharma.coldchain.probe_day (
    shipment_no  varchar      not null,
    leg          varchar,                    -- empty for direct shipments
    probe_day    date         not null,
    min_temp     number(5,2),
    max_temp     number(5,2),
    breaches     integer
);

begin;

merge into pharma.coldchain.probe_day d
using (
    select r.shipment_no, r.leg, r.probe_day, r.min_temp, r.max_temp, r.breaches
    from pharma.landing.logger_report r
    where r.probe_day = '{{ ds }}'
      -- a logger may upload its report more than once
      and r.report_status in ('FINAL', 'RESENT')
) s
   on  d.shipment_no = s.shipment_no
   and d.leg         = s.leg
   and d.probe_day   = s.probe_day
when matched then update set
    d.min_temp = s.min_temp,
    d.max_temp = s.max_temp,
    d.breaches = s.breaches
when not matched then insert (shipment_no, leg, probe_day, min_temp, max_temp, breaches)
    values (s.shipment_no, s.leg, s.probe_day, s.min_temp, s.max_temp, s.breaches);

commit;
