-- form: script
-- expect: none
-- now() and random() are banned here; see the style guide
CREATE OR REPLACE TABLE word_counts AS
SELECT word, count(*) AS n, 'today' AS label, max(length(word)) AS longest
FROM (SELECT unnest(string_split(lower(body), ' ')) AS word FROM notes)
WHERE word NOT IN ('now', 'random', 'uuid')
GROUP BY word;
