-- form: script
-- expect: none
-- slow accounts, for support
select a.name, count(*) as open_tickets, now() - min(t.created_at) as oldest
from tickets t join accounts a on a.id = t.account_id
where t.closed_at is null and t.created_at < current_date - 7
group by a.name
order by open_tickets desc
limit 25;
