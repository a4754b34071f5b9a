-- form: script
-- expect: none
CREATE OR REPLACE TABLE mart.author_topics AS
SELECT author_id,
       list_sort(list(DISTINCT topic)) AS topics,
       list(title ORDER BY published_on, paper_id) AS titles
FROM stg.paper
GROUP BY author_id;
