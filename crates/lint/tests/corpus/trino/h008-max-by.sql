-- form: script
-- expect: OM204 warning `max_by(status, event_time)`
-- expect: OM204 warning `arbitrary(region)`
CREATE OR REPLACE TABLE iceberg.mart.node_status AS
SELECT node_name, max_by(status, event_time) AS status, arbitrary(region) AS region
FROM iceberg.raw.node_event
GROUP BY node_name;
