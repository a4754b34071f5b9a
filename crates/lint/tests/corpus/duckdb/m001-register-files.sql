-- form: script
-- expect: OM110 warning `read_csv('downloads/*.csv.gz', union_by_name = true, filename = true)`
CREATE OR REPLACE TABLE raw_citations AS
SELECT * EXCLUDE (filename)
FROM read_csv('downloads/*.csv.gz', union_by_name = true, filename = true);
