-- form: script
-- expect: none
CREATE OR REPLACE TABLE cat.labels
ENGINE = MergeTree ORDER BY item_id AS
SELECT item_id, arraySort(groupUniqArray(label)) AS labels, length(groupArray(vote)) AS votes
FROM cat.vote
GROUP BY item_id;
