{#- What goes before the real macros of packages: those would ask the warehouse. -#}
{% macro dbt_utils__star(from, relation_alias=false, except=[], prefix='', suffix='', quote_identifiers=true) %}{% if relation_alias %}{{ relation_alias }}.{% endif %}*{% endmacro %}
{% macro dbt_utils__get_column_values(table, column, order_by='', max_records=none, default=none, where=none) %}{{ return(default or [stub_column_value]) }}{% endmacro %}
{% macro dbt_utils__get_filtered_columns_in_relation(from, except=[]) %}{{ return([stub_column]) }}{% endmacro %}
{% macro dbt_utils__get_relations_by_pattern(schema_pattern, table_pattern, exclude='', database='') %}{{ return([stub_relation]) }}{% endmacro %}
{% macro dbt_utils__get_relations_by_prefix(schema, prefix, exclude='', database='') %}{{ return([stub_relation]) }}{% endmacro %}
{% macro dbt_utils__union_relations(relations, column_override=none, include=[], exclude=[], source_column_name='_dbt_source_relation', where=none) %}
{% for relation in relations %}(select {% if source_column_name %}cast('{{ relation }}' as {{ dbt.type_string() }}) as {{ source_column_name }}, {% endif %}* from {{ relation }}{% if where %} where {{ where }}{% endif %}){% if not loop.last %} union all {% endif %}{% endfor %}
{% endmacro %}
{% macro dbt_utils__unpivot(relation=none, cast_to='varchar', exclude=none, remove=none, field_name='field_name', value_name='value', quote_identifiers=false) %}select *, cast(null as {{ dbt.type_string() }}) as {{ field_name }}, cast(null as {{ cast_to }}) as {{ value_name }} from {{ relation }}{% endmacro %}
{% macro dbt_utils__date_spine(datepart, start_date, end_date) %}{{ return(dbt.date_spine(datepart, start_date, end_date)) }}{% endmacro %}
{% macro dbt__date_spine(datepart, start_date, end_date) %}select date_{{ datepart }} from unnest(generate_series({{ start_date }}, {{ end_date }}, interval '1 {{ datepart }}')) as t(date_{{ datepart }}){% endmacro %}
