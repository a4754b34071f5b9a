{#- Stand-ins for the package dbt_utils, where it is not installed. -#}
{% macro generate_surrogate_key(field_list) %}md5(cast({% for field in field_list %}coalesce(cast({{ field }} as {{ dbt.type_string() }}), '_dbt_utils_surrogate_key_null_'){% if not loop.last %} || '-' || {% endif %}{% endfor %} as {{ dbt.type_string() }})){% endmacro %}
{% macro surrogate_key(field_list) %}{% if field_list is string %}{{ generate_surrogate_key([field_list] + varargs) }}{% else %}{{ generate_surrogate_key(field_list) }}{% endif %}{% endmacro %}
{% macro group_by(n) %}group by {% for i in range(1, n + 1) %}{{ i }}{% if not loop.last %}, {% endif %}{% endfor %}{% endmacro %}
{% macro safe_divide(numerator, denominator) %}({{ numerator }}) / nullif(({{ denominator }}), 0){% endmacro %}
{% macro safe_add(field_list) %}{% for field in field_list %}coalesce({{ field }}, 0){% if not loop.last %} + {% endif %}{% endfor %}{% endmacro %}
{% macro safe_subtract(field_list) %}{% for field in field_list %}coalesce({{ field }}, 0){% if not loop.last %} - {% endif %}{% endfor %}{% endmacro %}
{% macro deduplicate(relation, partition_by, order_by=none) %}select * from (select d.*, row_number() over (partition by {{ partition_by }}{% if order_by %} order by {{ order_by }}{% endif %}) as rn from {{ relation }} as d) as numbered where rn = 1{% endmacro %}
{% macro pivot(column, values, alias=true, agg='sum', cmp='=', prefix='', suffix='', then_value=1, else_value=0, quote_identifiers=true, distinct=false) %}{% for value in values %}{{ agg }}({% if distinct %}distinct {% endif %}case when {{ column }} {{ cmp }} '{{ value }}' then {{ then_value }} else {{ else_value }} end){% if alias %} as "{{ prefix ~ value ~ suffix }}"{% endif %}{% if not loop.last %}, {% endif %}{% endfor %}{% endmacro %}
{% macro haversine_distance(lat1, lon1, lat2, lon2, unit='mi') %}2 * 3961 * asin(sqrt(power(sin(radians({{ lat2 }} - {{ lat1 }}) / 2), 2) + cos(radians({{ lat1 }})) * cos(radians({{ lat2 }})) * power(sin(radians({{ lon2 }} - {{ lon1 }}) / 2), 2))){% endmacro %}
{% macro width_bucket(expr, min_value, max_value, num_buckets) %}width_bucket({{ expr }}, {{ min_value }}, {{ max_value }}, {{ num_buckets }}){% endmacro %}
{% macro get_url_host(field) %}split_part(split_part(replace(replace({{ field }}, 'http://', ''), 'https://', ''), '/', 1), '?', 1){% endmacro %}
{% macro get_url_path(field) %}split_part({{ field }}, '/', 4){% endmacro %}
{% macro get_url_parameter(field, url_parameter) %}nullif(split_part(split_part({{ field }}, '{{ url_parameter }}=', 2), '&', 1), ''){% endmacro %}
{% macro slugify(string) %}{{ string | lower | replace(' ', '_') | replace('-', '_') }}{% endmacro %}
{% macro pretty_time(format='%H:%M:%S') %}00:00:00{% endmacro %}
{% macro pretty_log_format(message) %}{{ message }}{% endmacro %}
{% macro log_info(message) %}{% endmacro %}
{% macro default__type_string() %}{{ dbt.type_string() }}{% endmacro %}
