-- form: script
-- expect: OM302 error `INSERT IGNORE`
INSERT IGNORE INTO dim_browser (browser_name, vendor)
SELECT DISTINCT browser_name, vendor
FROM stg_hit
WHERE browser_name <> '';
