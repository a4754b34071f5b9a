-- form: script
-- expect: OM314 warning `CREATE TABLE game.matches`
CREATE TABLE game.matches
(
    match_id UInt64,
    played_at DateTime,
    winner LowCardinality(String)
)
ENGINE = MergeTree
ORDER BY (played_at, match_id);
