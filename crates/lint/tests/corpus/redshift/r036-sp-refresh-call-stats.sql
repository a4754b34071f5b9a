-- form: script
-- expect: OM101 error `GETDATE()`
-- expect: OM101 error `GETDATE()`
-- expect: OM101 error `GETDATE()`
-- expect: OM101 error `GETDATE()`
-- because: a March repair run in June deletes and rebuilds three days of June; March cannot be addressed the window of the source is bound to the clock of the run
CREATE OR REPLACE PROCEDURE callcenter.sp_refresh_call_stats()
LANGUAGE plpgsql
AS $$
BEGIN
    -- last three full days are rebuilt because recordings are rated late
    DELETE FROM callcenter.call_stats
    WHERE  call_day >= DATEADD(day, -3, TRUNC(GETDATE()))
      AND  call_day <  TRUNC(GETDATE());

    INSERT INTO callcenter.call_stats
           (call_day, team_id, calls, talk_seconds, avg_rating)
    SELECT c.call_day,
           a.team_id,
           COUNT(*),
           SUM(c.talk_seconds),
           CAST(AVG(c.rating::NUMERIC(5,2)) AS NUMERIC(5,2))
    FROM   callcenter.call c
    JOIN   callcenter.agent a ON a.agent_id = c.agent_id
    WHERE  c.call_day >= DATEADD(day, -3, TRUNC(GETDATE()))
      AND  c.call_day <  TRUNC(GETDATE())
    GROUP  BY c.call_day, a.team_id;
END;
$$;
