-- form: script
-- expect: none
DROP TABLE IF EXISTS dict.user_new;
CREATE TABLE dict.user_new (user_id UInt64, country LowCardinality(String)) ENGINE = MergeTree ORDER BY user_id;
INSERT INTO dict.user_new SELECT user_id, max(country) FROM raw.user_event GROUP BY user_id;
EXCHANGE TABLES dict.user_new AND dict.user;
DROP TABLE dict.user_new;
