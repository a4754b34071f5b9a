-- form: dbt
-- expect: OM101 error `current_date()`
{{ config(materialized='table', tags=['finance', 'daily']) }}

with invoices as (
    select * from {{ ref('stg_netsuite__invoices') }}
),

aged as (
    select
        invoice_id,
        customer_id,
        amount_due,
        datediff('day', due_date, current_date()) as days_overdue
    from invoices
    where amount_due > 0
)

select
    invoice_id,
    customer_id,
    amount_due,
    case
        when days_overdue <= 0 then 'current'
        when days_overdue <= 30 then '1-30'
        else '30+'
    end as bucket
from aged
