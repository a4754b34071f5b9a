-- form: script
-- expect: OM204 warning `arbitrary(c.company_name)`
CREATE OR REPLACE TABLE iceberg.gold.supplier
WITH (format = 'PARQUET') AS
SELECT c.supplier_no, arbitrary(c.company_name) AS company_name, min(c.first_order) AS first_order
FROM iceberg.silver.supplier_contact c
GROUP BY c.supplier_no;
