-- form: dbt
-- expect: OM506 error `incremental_predicates=…`
{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key='invoice_no',
    incremental_predicates=["DBT_INTERNAL_DEST.invoice_date > current_date - 14"]
) }}
select invoice_no, max(invoice_date) as invoice_date, sum(net) as net
from {{ ref('stg_invoice_lines') }}
{% if is_incremental() %}
where invoice_date >= '{{ var("from") }}' and invoice_date < '{{ var("to") }}'
{% endif %}
group by invoice_no
