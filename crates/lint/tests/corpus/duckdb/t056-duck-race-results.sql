-- form: script
-- expect: none
-- running races: one split file per race, results table is rebuilt from all splits
CREATE OR REPLACE TABLE race_result AS
WITH finish AS (
    -- all picked columns are in the sort, ties are identical rows
    SELECT DISTINCT ON (race_id, bib) race_id, bib, net_ms, gross_ms
    FROM split_time
    WHERE split_code = 'FIN'
    ORDER BY race_id, bib, net_ms, gross_ms
),
uniq AS (
    -- full-row duplicates of the timing box
    SELECT race_id, bib, category
    FROM (
        SELECT race_id, bib, category,
               row_number() OVER (PARTITION BY race_id, bib, category) AS rn
        FROM start_list
    )
    WHERE rn = 1
)
SELECT f.race_id,
       f.bib,
       u.category,
       f.net_ms,
       rank()         OVER (PARTITION BY f.race_id ORDER BY f.net_ms)             AS place,
       percent_rank() OVER (PARTITION BY f.race_id, u.category ORDER BY f.net_ms) AS pct,
       f.net_ms - min(f.net_ms) OVER (PARTITION BY f.race_id)                     AS behind_ms
FROM finish f
LEFT JOIN uniq u ON u.race_id = f.race_id AND u.bib = f.bib;
