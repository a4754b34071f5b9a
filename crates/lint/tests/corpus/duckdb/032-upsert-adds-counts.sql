-- form: script
-- expect: OM309 error `n = word_count.n + excluded.n`
INSERT INTO word_count (word, n)
SELECT word, count(*) FROM raw.words WHERE day = $day GROUP BY word
ON CONFLICT (word) DO UPDATE SET n = word_count.n + excluded.n;
