-- form: script
-- expect: OM202 error `row_number() over (partition by lead_email)`
create temp table lead_dedup as
select lead_email, source_code, first_name
from (
    select lead_email, source_code, first_name,
           row_number() over (partition by lead_email) as rn
    from marketing.lead_raw
) x
where rn = 1;

begin;
delete from marketing.lead where lead_email in (select lead_email from lead_dedup);
insert into marketing.lead (lead_email, source_code, first_name)
select lead_email, source_code, first_name from lead_dedup;
commit;
