-- form: model
-- expect: none
/* oncemore
kind: full
key: [asset_no]
*/
SELECT a.asset_no, a.asset_name, COALESCE(l.location_name, 'n/a') AS location_name
FROM raw.asset AS a
LEFT JOIN ref.location AS l ON l.location_code = a.location_code
