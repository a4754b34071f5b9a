-- form: script
-- expect: OM204 warning `arbitrary(country)`
CREATE OR REPLACE TABLE iceberg.mart.device AS
SELECT device_id, arbitrary(country) AS country, count(*) AS events
FROM hive.core.event
WHERE ds >= '{{ start }}' AND ds < '{{ end }}'
GROUP BY device_id;
