-- form: script
-- expect: none
-- because: a log of runs, keyed by the run
INSERT INTO etl.job_run (run_id, job_name, started_at, host)
VALUES (%(run_id)s, 'load_fx', now(), inet_server_addr())
ON CONFLICT (run_id) DO NOTHING;
