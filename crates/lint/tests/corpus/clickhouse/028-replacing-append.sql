-- form: script
-- expect: OM301 warning `INSERT INTO events.user_state`
-- because: the engine folds the doubles of a key, but only when it merges
CREATE TABLE IF NOT EXISTS events.user_state
(
    user_id UInt64,
    state LowCardinality(String),
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY user_id;

INSERT INTO events.user_state (user_id, state, version)
SELECT user_id, argMax(state, (version, state)), max(version)
FROM events.user_change
WHERE day = {day:Date}
GROUP BY user_id;
