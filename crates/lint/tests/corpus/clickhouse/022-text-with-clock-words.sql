-- form: script
-- expect: none
CREATE OR REPLACE TABLE qa.log_words
ENGINE = MergeTree ORDER BY word
AS
SELECT word, count() AS n
FROM (SELECT arrayJoin(splitByChar(' ', lower(message))) AS word FROM qa.log WHERE day = {day:Date})
WHERE word IN ('now()', 'today()', 'rand()', 'timeout') -- function names are only texts here
GROUP BY word;
