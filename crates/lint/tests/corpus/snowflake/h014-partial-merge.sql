-- form: script
-- expect: OM321 warning `update set t.rate = s.rate`
merge into ref.vat_rate t
using (
    select country_code, max(rate) as rate, max(description) as description
    from landing.vat
    group by country_code
) s
on t.country_code = s.country_code
when matched then update set t.rate = s.rate
when not matched then insert (country_code, rate, description)
    values (s.country_code, s.rate, s.description);
