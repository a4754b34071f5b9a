-- form: script
-- expect: none
CREATE OR REPLACE TEMP TABLE wide AS
PIVOT (SELECT region, quarter, revenue FROM raw.revenue) ON quarter USING sum(revenue) GROUP BY region;

COPY (SELECT * FROM wide ORDER BY region) TO 'out/revenue_wide.csv' (HEADER);
