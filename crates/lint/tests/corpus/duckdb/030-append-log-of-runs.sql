-- form: script
-- expect: none
CREATE TABLE IF NOT EXISTS run_log (run_id VARCHAR PRIMARY KEY, step VARCHAR, finished_at TIMESTAMP, rows BIGINT);
INSERT INTO run_log (run_id, step, finished_at, rows)
VALUES ($run_id, 'build_marts', now(), $rows)
ON CONFLICT (run_id) DO UPDATE SET finished_at = EXCLUDED.finished_at, rows = EXCLUDED.rows;
