-- form: script
-- expect: none
-- because: Full rebuild in one statement; argMax decides by (updated_at, event_id), event_id being unique, and the other aggregates are order-free.
CREATE OR REPLACE TABLE game.player_state
ENGINE = MergeTree
ORDER BY player_id
AS
SELECT
    player_id,
    argMax(level,  (updated_at, event_id))   AS level,
    argMax(guild,  (updated_at, event_id))   AS guild,
    argMax(coins,  (updated_at, event_id))   AS coins,
    max(updated_at)                          AS last_update_at,
    count()                                  AS events,
    uniqExact(session_id)                    AS sessions
FROM game.player_event          -- event_id is a unique UInt64
WHERE player_id != 0
GROUP BY player_id;
