-- form: script
-- expect: none
CREATE OR REPLACE VIEW ops.error_rate AS
SELECT service, countIf(status >= 500) / count() AS error_rate
FROM ops.request
GROUP BY service;
