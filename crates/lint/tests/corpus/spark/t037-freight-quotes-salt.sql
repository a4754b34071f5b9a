-- form: script
-- expect: OM106 warning `monotonically_increasing_id()`
-- expect: OM113 error `rand()`
-- because: the id depends on partition and row order, other ids each run rows are shuffled by a random value; a retried stage may lose or repeat rows
-- skewed customer, therefore salted. do not remove the DISTRIBUTE BY (OOM!)
SET spark.sql.sources.partitionOverwriteMode = dynamic;

INSERT OVERWRITE TABLE freight.quote_line PARTITION (quote_date)
SELECT
    monotonically_increasing_id()      AS quote_line_id,
    q.quote_id,
    q.customer_id,
    x.leg_no,
    x.mode,
    x.price_eur,
    q.quote_date
FROM freight.quote q
LATERAL VIEW explode(q.legs) e AS x
WHERE q.quote_date >= '${start}'
  AND q.quote_date <  '${end}'
DISTRIBUTE BY q.quote_date, floor(rand() * 16);
