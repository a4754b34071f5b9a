-- form: dbt
-- expect: OM204 warning `any_value(insurance_plan)`
-- expect: OM305 error `_dbt_max_partition`
-- because: A patient with visits under two plans on one day gets either plan, another one on the next run. The window hangs on what earlier runs wrote (_dbt_max_partition), so rows corrected a week ago are never read and March cannot be addressed.
{{
  config(
    materialized = 'incremental',
    incremental_strategy = 'insert_overwrite',
    partition_by = {'field': 'visit_date', 'data_type': 'date'}
  )
}}

select
  visit_date,
  clinic_id,
  patient_id,
  any_value(insurance_plan) as insurance_plan,
  count(*)                  as visits,
  sum(copay_cents)          as copay_cents
from {{ source('clinic', 'visits') }}
{% if is_incremental() %}
where visit_date >= date_sub(_dbt_max_partition, interval 1 day)
{% endif %}
group by visit_date, clinic_id, patient_id
