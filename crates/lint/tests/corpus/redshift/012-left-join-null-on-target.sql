-- form: script
-- expect: OM304 error `d.visitor_key IS NULL`
INSERT INTO dw.dim_visitor (visitor_key, first_url, first_device)
SELECT v.visitor_key, v.first_url, v.first_device
FROM (
  SELECT md5(cookie_id) AS visitor_key, MIN(landing_url) AS first_url, MIN(device) AS first_device
  FROM stg.web_hit
  GROUP BY md5(cookie_id)
) v
LEFT JOIN dw.dim_visitor d ON d.visitor_key = v.visitor_key
WHERE d.visitor_key IS NULL;
