-- form: script
-- expect: OM310 error `DELETE FROM gold.visit`
DELETE FROM gold.visit WHERE visit_day = DATE'${day}';
INSERT INTO gold.visit BY NAME SELECT visit_day, page_id, count(*) AS n FROM silver.visit WHERE visit_day = DATE'${day}' GROUP BY visit_day, page_id;
