-- form: script
-- expect: none
-- because: The procedure is atomic, deletes and inserts the same half-open range of call_date; the append and the clock only concern an operational log keyed by run id.
CREATE OR REPLACE PROCEDURE mart.sp_load_call_day(p_start DATE, p_end DATE, p_run_id VARCHAR(64))
AS $$
DECLARE
  v_rows BIGINT;
BEGIN
  DELETE FROM mart.call_day
  WHERE call_date >= p_start
    AND call_date <  p_end;

  INSERT INTO mart.call_day
    (call_date, queue_id, agent_id, calls, talk_seconds, first_disposition)
  SELECT c.call_date,
         c.queue_id,
         c.agent_id,
         COUNT(*),
         SUM(c.talk_seconds),
         MIN(c.disposition)
  FROM stg.call AS c
  WHERE c.call_date >= p_start
    AND c.call_date <  p_end
  GROUP BY c.call_date, c.queue_id, c.agent_id;

  GET DIAGNOSTICS v_rows := ROW_COUNT;

  -- one line per attempt, kept for operations; nothing reads it to build data
  INSERT INTO etl.job_log (run_id, job, rows_written, logged_at)
  VALUES (p_run_id, 'call_day', v_rows, GETDATE());
END;
$$ LANGUAGE plpgsql;
