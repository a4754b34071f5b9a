{#- Stand-ins for the macros that dbt itself brings, where no manifest shows the real ones. -#}
{% macro dateadd(datepart, interval, from_date_or_timestamp) %}{{ return(adapter.dispatch('dateadd', 'dbt')(datepart, interval, from_date_or_timestamp)) }}{% endmacro %}
{% macro default__dateadd(datepart, interval, at) %}dateadd({{ datepart }}, {{ interval }}, {{ at }}){% endmacro %}
{% macro postgres__dateadd(datepart, interval, at) %}{{ at }} + ((interval '1 {{ datepart }}') * ({{ interval }})){% endmacro %}
{% macro redshift__dateadd(datepart, interval, at) %}dateadd({{ datepart }}, {{ interval }}, {{ at }}){% endmacro %}
{% macro duckdb__dateadd(datepart, interval, at) %}date_add({{ at }}, interval ({{ interval }}) {{ datepart }}){% endmacro %}
{% macro bigquery__dateadd(datepart, interval, at) %}datetime_add(cast({{ at }} as datetime), interval {{ interval }} {{ datepart }}){% endmacro %}
{% macro trino__dateadd(datepart, interval, at) %}date_add('{{ datepart }}', {{ interval }}, {{ at }}){% endmacro %}
{% macro datediff(first_date, second_date, datepart) %}{{ return(adapter.dispatch('datediff', 'dbt')(first_date, second_date, datepart)) }}{% endmacro %}
{% macro default__datediff(a, b, datepart) %}datediff({{ datepart }}, {{ a }}, {{ b }}){% endmacro %}
{% macro postgres__datediff(a, b, datepart) %}date_part('{{ datepart }}', ({{ b }})::timestamp - ({{ a }})::timestamp){% endmacro %}
{% macro redshift__datediff(a, b, datepart) %}datediff({{ datepart }}, {{ a }}, {{ b }}){% endmacro %}
{% macro duckdb__datediff(a, b, datepart) %}(date_diff('{{ datepart }}', {{ a }}::timestamp, {{ b }}::timestamp)){% endmacro %}
{% macro bigquery__datediff(a, b, datepart) %}datetime_diff(cast({{ b }} as datetime), cast({{ a }} as datetime), {{ datepart }}){% endmacro %}
{% macro trino__datediff(a, b, datepart) %}date_diff('{{ datepart }}', {{ a }}, {{ b }}){% endmacro %}
{% macro date_trunc(datepart, date) %}{{ return(adapter.dispatch('date_trunc', 'dbt')(datepart, date)) }}{% endmacro %}
{% macro default__date_trunc(datepart, date) %}date_trunc('{{ datepart }}', {{ date }}){% endmacro %}
{% macro bigquery__date_trunc(datepart, date) %}timestamp_trunc(cast({{ date }} as timestamp), {{ datepart }}){% endmacro %}
{% macro last_day(date, datepart) %}last_day({{ date }}){% endmacro %}
{% macro date(year, month, day) %}cast('{{ '{:04d}-{:02d}-{:02d}'.format(year, month, day) }}' as date){% endmacro %}
{% macro current_timestamp() %}{{ return(adapter.dispatch('current_timestamp', 'dbt')()) }}{% endmacro %}
{% macro default__current_timestamp() %}current_timestamp{% endmacro %}
{% macro snowflake__current_timestamp() %}convert_timezone('UTC', current_timestamp()){% endmacro %}
{% macro bigquery__current_timestamp() %}current_timestamp(){% endmacro %}
{% macro postgres__current_timestamp() %}now(){% endmacro %}
{% macro redshift__current_timestamp() %}getdate(){% endmacro %}
{% macro duckdb__current_timestamp() %}now(){% endmacro %}
{% macro current_timestamp_backcompat() %}current_timestamp::timestamp{% endmacro %}
{% macro current_timestamp_in_utc_backcompat() %}current_timestamp::timestamp{% endmacro %}
{% macro now() %}{{ current_timestamp() }}{% endmacro %}
{% macro snapshot_get_time() %}{{ current_timestamp() }}{% endmacro %}
{% macro safe_cast(field, type) %}{{ return(adapter.dispatch('safe_cast', 'dbt')(field, type)) }}{% endmacro %}
{% macro default__safe_cast(field, type) %}cast({{ field }} as {{ type }}){% endmacro %}
{% macro snowflake__safe_cast(field, type) %}try_cast({{ field }} as {{ type }}){% endmacro %}
{% macro duckdb__safe_cast(field, type) %}try_cast({{ field }} as {{ type }}){% endmacro %}
{% macro bigquery__safe_cast(field, type) %}safe_cast({{ field }} as {{ type }}){% endmacro %}
{% macro cast(field, type) %}cast({{ field }} as {{ type }}){% endmacro %}
{% macro concat(fields) %}{{ fields | join(' || ') }}{% endmacro %}
{% macro hash(field) %}{{ return(adapter.dispatch('hash', 'dbt')(field)) }}{% endmacro %}
{% macro default__hash(field) %}md5(cast({{ field }} as {{ type_string() }})){% endmacro %}
{% macro bigquery__hash(field) %}to_hex(md5(cast({{ field }} as {{ type_string() }}))){% endmacro %}
{% macro length(expression) %}length({{ expression }}){% endmacro %}
{% macro position(substring_text, string_text) %}position({{ substring_text }} in {{ string_text }}){% endmacro %}
{% macro replace(field, old_chars, new_chars) %}replace({{ field }}, {{ old_chars }}, {{ new_chars }}){% endmacro %}
{% macro right(string_text, length_expression) %}right({{ string_text }}, {{ length_expression }}){% endmacro %}
{% macro split_part(string_text, delimiter_text, part_number) %}split_part({{ string_text }}, {{ delimiter_text }}, {{ part_number }}){% endmacro %}
{% macro any_value(expression) %}any_value({{ expression }}){% endmacro %}
{% macro bool_or(expression) %}bool_or({{ expression }}){% endmacro %}
{% macro listagg(measure, delimiter_text="','", order_by_clause=none, limit_num=none) %}{{ return(adapter.dispatch('listagg', 'dbt')(measure, delimiter_text, order_by_clause)) }}{% endmacro %}
{% macro default__listagg(measure, delimiter_text, order_by_clause) %}listagg({{ measure }}, {{ delimiter_text }}){% if order_by_clause %} within group ({{ order_by_clause }}){% endif %}{% endmacro %}
{% macro postgres__listagg(measure, delimiter_text, order_by_clause) %}string_agg({{ measure }}, {{ delimiter_text }}{% if order_by_clause %} {{ order_by_clause }}{% endif %}){% endmacro %}
{% macro redshift__listagg(measure, delimiter_text, order_by_clause) %}listagg({{ measure }}, {{ delimiter_text }}){% if order_by_clause %} within group ({{ order_by_clause }}){% endif %}{% endmacro %}
{% macro duckdb__listagg(measure, delimiter_text, order_by_clause) %}string_agg({{ measure }}, {{ delimiter_text }}{% if order_by_clause %} {{ order_by_clause }}{% endif %}){% endmacro %}
{% macro bigquery__listagg(measure, delimiter_text, order_by_clause) %}string_agg({{ measure }}, {{ delimiter_text }}{% if order_by_clause %} {{ order_by_clause }}{% endif %}){% endmacro %}
{% macro array_construct(inputs=[], data_type=none) %}array[{{ inputs | join(', ') }}]{% endmacro %}
{% macro array_append(array, new_element) %}array_append({{ array }}, {{ new_element }}){% endmacro %}
{% macro array_concat(array_1, array_2) %}array_cat({{ array_1 }}, {{ array_2 }}){% endmacro %}
{% macro escape_single_quotes(expression) %}{{ expression | replace("'", "''") }}{% endmacro %}
{% macro string_literal(value) %}'{{ value }}'{% endmacro %}
{% macro except() %}{% if adapter.type() == 'bigquery' %}except distinct{% else %}except{% endif %}{% endmacro %}
{% macro intersect() %}{% if adapter.type() == 'bigquery' %}intersect distinct{% else %}intersect{% endif %}{% endmacro %}
{% macro type_string() %}{% if adapter.type() in ('bigquery', 'spark', 'databricks') %}string{% else %}TEXT{% endif %}{% endmacro %}
{% macro type_timestamp() %}timestamp{% endmacro %}
{% macro type_int() %}{% if adapter.type() == 'bigquery' %}int64{% else %}int{% endif %}{% endmacro %}
{% macro type_bigint() %}{% if adapter.type() == 'bigquery' %}int64{% else %}bigint{% endif %}{% endmacro %}
{% macro type_float() %}{% if adapter.type() == 'bigquery' %}float64{% else %}float{% endif %}{% endmacro %}
{% macro type_numeric() %}{% if adapter.type() == 'bigquery' %}numeric{% else %}numeric(28, 6){% endif %}{% endmacro %}
{% macro type_boolean() %}{% if adapter.type() == 'bigquery' %}bool{% else %}boolean{% endif %}{% endmacro %}
{% macro generate_series(upper_bound) %}select n as generated_number from generate_series(1, {{ upper_bound }}) as t(n){% endmacro %}
{% macro date_spine(datepart, start_date, end_date) %}select date_{{ datepart }} from unnest(generate_series({{ start_date }}, {{ end_date }}, interval '1 {{ datepart }}')) as t(date_{{ datepart }}){% endmacro %}
{% macro get_tables_by_pattern_sql() %}{% endmacro %}
{% macro generate_schema_name(custom_schema_name, node) %}{{ custom_schema_name or target.schema }}{% endmacro %}
{% macro statement_list() %}{% endmacro %}
