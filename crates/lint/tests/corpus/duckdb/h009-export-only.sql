-- form: script
-- expect: none
COPY (
    SELECT region, sum(amount) AS amount
    FROM sales
    GROUP BY region
    ORDER BY region
) TO 'out/sales_by_region.parquet' (FORMAT parquet, COMPRESSION zstd);
