-- form: script
-- expect: OM209 warning `stg.route_changes s`
begin;
update mart.route
set    carrier = s.carrier,
       transit_days = s.transit_days
from   stg.route_changes s
where  s.route_code = mart.route.route_code;
end;
