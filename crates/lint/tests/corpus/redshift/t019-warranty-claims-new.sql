-- form: script
-- expect: OM315 warning `select s.*`
-- expect: OM304 error `w.claim_no is null`
-- because: no column list and a star select: column drift of the staging table shifts values anti-join on the target: a corrected claim is never taken over
-- only append what we do not have yet
insert into aftersales.warranty_claim
select s.*
from staging.warranty_claim s
left join aftersales.warranty_claim w
       on w.claim_no = s.claim_no
      and w.dealer_no = s.dealer_no
where w.claim_no is null
  and s.claim_date >= '{{ data_interval_start }}'
  and s.claim_date <  '{{ data_interval_end }}'
  and s.claim_type <> 'GOODWILL';

analyze aftersales.warranty_claim;
