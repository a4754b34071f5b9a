-- form: script
-- expect: none
CREATE OR REPLACE TABLE stg_hops AS
SELECT hop_id, upper(trim(code)) AS code, try_cast(weight AS DECIMAL(10, 3)) AS weight, day
FROM raw.hops;

CREATE OR REPLACE TABLE hop_totals AS
WITH per_day AS (
  SELECT code, day, sum(weight) AS weight FROM stg_hops GROUP BY ALL
), ranked AS (
  SELECT *, dense_rank() OVER (PARTITION BY day ORDER BY weight DESC) AS place FROM per_day
)
SELECT code, day, weight, place FROM ranked WHERE place <= 3;

COPY (SELECT * FROM hop_totals ORDER BY day, place, code) TO 'out/hop_totals.parquet' (FORMAT parquet);
