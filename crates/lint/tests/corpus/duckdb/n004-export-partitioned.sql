-- form: script
-- expect: none
COPY (SELECT *, year(day) AS year FROM mart.sales WHERE day >= $from AND day < $to)
TO 'out/sales' (FORMAT parquet, PARTITION_BY (year), OVERWRITE_OR_IGNORE);
