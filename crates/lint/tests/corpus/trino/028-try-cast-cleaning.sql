-- form: script
-- expect: none
CREATE OR REPLACE VIEW iceberg.mart.clean_supplier AS
SELECT supplier_id,
       upper(trim(name)) AS name,
       TRY_CAST(rating AS integer) AS rating,
       coalesce(nullif(country, ''), 'ZZ') AS country
FROM hive.raw.supplier
WHERE supplier_id IS NOT NULL;
