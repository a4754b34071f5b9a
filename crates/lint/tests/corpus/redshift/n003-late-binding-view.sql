-- form: script
-- expect: none
CREATE OR REPLACE VIEW spectrum_v.page_views AS
SELECT event_id, page, ts, dt
FROM spectrum.page_views
WHERE dt >= '2023-01-01'
WITH NO SCHEMA BINDING;
