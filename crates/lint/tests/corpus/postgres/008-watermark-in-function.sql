-- form: script
-- expect: OM305 error `SELECT coalesce(max(ingested_at), '-infinity') INTO since FROM dw.fact_call`
-- because: what is read depends on what is stored
CREATE OR REPLACE PROCEDURE dw.load_calls()
LANGUAGE plpgsql
AS $$
DECLARE
  since timestamptz;
BEGIN
  SELECT coalesce(max(ingested_at), '-infinity') INTO since FROM dw.fact_call;

  INSERT INTO dw.fact_call (call_id, agent_id, seconds, ingested_at)
  SELECT c.call_id, c.agent_id, extract(epoch FROM c.ended_at - c.started_at)::int, c.ingested_at
  FROM ods.call c
  WHERE c.ingested_at > since;
END;
$$;
