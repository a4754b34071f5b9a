-- form: script
-- expect: OM301 warning `INSERT INTO core.profile`
CREATE TABLE IF NOT EXISTS core.profile (user_id UInt64, name String, ver UInt64)
ENGINE = ReplacingMergeTree(ver) ORDER BY user_id;
INSERT INTO core.profile SELECT user_id, name, ver FROM raw.profile WHERE day = {day:Date};
