-- form: dbt
-- expect: OM504 warning `insert into ops.model_runs (model_name, ran_at) values ('{{ this.name }}', getdate())`
-- expect: OM201 warning `row_number() over (partition by id order by updated_at desc)`
-- expect: OM305 error `select coalesce(max(updated_at), '1900-01-01') from {{ this }}`
-- because: each retry writes one more row. two changes in the same second, either may win. window depends on what earlier runs left in the target.
{{ config(
    materialized='incremental',
    unique_key='subscription_id',
    incremental_strategy='delete+insert',
    dist='subscription_id',
    sort='updated_at',
    post_hook="insert into ops.model_runs (model_name, ran_at) values ('{{ this.name }}', getdate())"
) }}

with changes as (
    select
        id          as subscription_id,
        account_id,
        plan_code,
        status,
        mrr_cents,
        updated_at,
        row_number() over (partition by id order by updated_at desc) as rn
    from {{ source('billing_cdc', 'subscriptions') }}
    {% if is_incremental() %}
    where updated_at > (select coalesce(max(updated_at), '1900-01-01') from {{ this }})
    {% endif %}
)

select subscription_id, account_id, plan_code, status, mrr_cents, updated_at
from changes
where rn = 1
