-- form: dbt
-- expect: none
{{ config(materialized='table') }}

select
    playlist_id,
    track_id,
    row_number() over (partition by playlist_id order by added_at, track_id) as position
from {{ ref('stg_playlist_tracks') }}
