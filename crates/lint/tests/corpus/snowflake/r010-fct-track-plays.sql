-- form: dbt
-- expect: none
-- because: Microbatch replaces one whole event_time day per batch; rows are selected one to one by play_id, the join is to a dimension on its key.
{{
    config(
        materialized = 'incremental',
        incremental_strategy = 'microbatch',
        event_time = 'played_at',
        batch_size = 'day',
        begin = '2022-06-01',
        lookback = 2,
        on_schema_change = 'fail'
    )
}}

with plays as (

    select
        play_id,
        listener_id,
        track_id,
        played_at,
        ms_played
    from {{ ref('stg_player__plays') }}
    where ms_played >= 30000

),

tracks as (

    select track_id, artist_id, duration_ms
    from {{ ref('dim_tracks') }}

)

select
    plays.play_id,
    plays.listener_id,
    plays.track_id,
    tracks.artist_id,
    plays.played_at,
    plays.ms_played,
    iff(plays.ms_played >= 0.9 * tracks.duration_ms, 1, 0) as is_full_play
from plays
left join tracks
    on tracks.track_id = plays.track_id
