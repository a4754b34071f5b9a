-- form: dbt
-- expect: OM101 error `now()`
{{ config(materialized='table') }}

select
    i.invoice_id,
    i.due_on,
    case
        when i.paid_on is not null then 'paid'
        when i.due_on < now() then 'overdue'
        else 'open'
    end as state
from {{ ref('stg_invoices') }} as i
