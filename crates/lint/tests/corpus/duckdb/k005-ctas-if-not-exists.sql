-- form: script
-- expect: OM314 error `CREATE TABLE IF NOT EXISTS stats.word_count`
CREATE SCHEMA IF NOT EXISTS stats;
CREATE TABLE IF NOT EXISTS stats.word_count AS
SELECT word, count(*) AS n
FROM (SELECT unnest(string_split(lower(body), ' ')) AS word FROM raw.article)
WHERE word <> ''
GROUP BY word;
