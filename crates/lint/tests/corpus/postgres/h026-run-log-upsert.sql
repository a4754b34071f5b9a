-- form: script
-- expect: none
INSERT INTO etl.job_run AS j (run_id, job_name, started_at, state)
VALUES (%(run_id)s, 'load_ledger', now(), 'running')
ON CONFLICT (run_id) DO UPDATE SET started_at = EXCLUDED.started_at, state = EXCLUDED.state;
