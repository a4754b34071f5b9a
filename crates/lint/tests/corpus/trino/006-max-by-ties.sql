-- form: script
-- expect: OM204 warning `max_by(status, event_time)`
DROP TABLE IF EXISTS iceberg.mart.order_status;
CREATE TABLE iceberg.mart.order_status AS
SELECT order_id, max_by(status, event_time) AS status, max(event_time) AS event_time
FROM hive.core.order_event
GROUP BY order_id;
