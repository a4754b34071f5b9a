-- form: script
-- expect: OM302 error `on conflict (invoice_no) do nothing`
-- because: a corrected invoice line never reaches the fact table.
create or replace function billing.sync_invoices(p_from date, p_to date)
returns integer
language plpgsql
as $$
declare
    n integer;
begin
    -- nightly job passes the last 14 days; rows we already have are left alone
    insert into billing.invoice_fact (invoice_no, customer_no, invoice_date, net_amount, currency)
    select i.invoice_no,
           i.customer_no,
           i.invoice_date,
           sum(l.net_amount),
           i.currency
    from   erp.invoice i
    join   erp.invoice_line l on l.invoice_no = i.invoice_no
    where  i.invoice_date >= p_from
      and  i.invoice_date <  p_to
    group by i.invoice_no, i.customer_no, i.invoice_date, i.currency
    on conflict (invoice_no) do nothing;

    get diagnostics n = row_count;
    return n;
end;
$$;
