-- form: script
-- expect: OM110 warning `read_csv_auto('data/raw/*.csv', header = true)`
INSTALL httpfs;
LOAD httpfs;

CREATE OR REPLACE TABLE vgsales AS
SELECT name, platform, year, global_sales
FROM read_csv_auto('data/raw/*.csv', header = true);
