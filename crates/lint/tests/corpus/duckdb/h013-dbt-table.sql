-- form: dbt
-- expect: OM205 error `list(ingredient)`
{{ config(materialized='table') }}

select
    recipe_id,
    count(*) as n_ingredients,
    list(ingredient) as ingredients
from {{ ref('stg_recipe_ingredients') }}
group by recipe_id
