-- form: dbt
-- expect: none
{{ config(materialized='view') }}

with src as (
    select * from {{ source('erp', 'gl_entry') }}
)

select
    entry_no,
    account_no,
    posting_date,
    debit - credit as amount,
    nullif(trim(memo), '') as memo,
    'current_timestamp' as note_kind
from src
where not is_reversed
