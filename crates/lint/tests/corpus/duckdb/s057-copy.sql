-- form: script
-- expect: none
COPY (SELECT day, page, count(*) AS n FROM raw.visit WHERE day = $day GROUP BY ALL ORDER BY ALL) TO 'out/visit.parquet' (FORMAT parquet, OVERWRITE_OR_IGNORE);
