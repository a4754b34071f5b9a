-- form: script
-- expect: none
CREATE OR REPLACE VIEW mart.v_sessions AS
SELECT session_id, min(ts) AS started, max(ts) AS ended, uniqExact(page) AS pages
FROM raw.hit
GROUP BY session_id;
