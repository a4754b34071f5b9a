-- form: script
-- expect: none
INSERT IGNORE INTO job_lock (job_name, run_id) VALUES ('nightly_close', @run_id);
