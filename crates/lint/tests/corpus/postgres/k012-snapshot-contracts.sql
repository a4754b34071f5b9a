-- form: dbt
-- expect: none
{% snapshot contracts_snapshot %}
{{
    config(
      target_schema='snapshots',
      unique_key='contract_id',
      strategy='timestamp',
      updated_at='modified_at',
      invalidate_hard_deletes=True
    )
}}
select contract_id, customer_id, plan, monthly_fee, modified_at
from {{ source('crm', 'contract') }}
{% endsnapshot %}
