-- form: script
-- expect: none
COMMENT ON TABLE mart.store_day IS 'one row a store and day; see now() in the loader';
GRANT SELECT ON ALL TABLES IN SCHEMA mart TO reporter;
CREATE OR REPLACE VIEW mart.store_month AS
SELECT store_id, date_trunc('month', day) AS month, sum(cents) AS cents
FROM mart.store_day
GROUP BY store_id, date_trunc('month', day);
VACUUM ANALYZE mart.store_day;
