-- form: dbt
-- expect: OM501 error `materialized="incremental"`
{{
    config(
        materialized="incremental",
        tags=["hourly"],
        cluster_by=["received_date"]
    )
}}
select
    message_id,
    to_date(received_at) as received_date,
    channel,
    length(body) as body_length
from {{ source("inbox", "messages") }}
{% if is_incremental() %}
where received_at >= '{{ var("hour_start") }}' and received_at < '{{ var("hour_end") }}'
{% endif %}
