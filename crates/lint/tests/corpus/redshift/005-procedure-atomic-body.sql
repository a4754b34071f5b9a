-- form: script
-- expect: none
CREATE OR REPLACE PROCEDURE mart.sp_load_session_day(p_day DATE)
AS $$
BEGIN
  DELETE FROM mart.session_day WHERE session_day = p_day;

  INSERT INTO mart.session_day (session_day, channel, sessions, bounces)
  SELECT session_day, channel, COUNT(*), SUM(CASE WHEN pages = 1 THEN 1 ELSE 0 END)
  FROM ods.web_session
  WHERE session_day = p_day
  GROUP BY session_day, channel;
END;
$$ LANGUAGE plpgsql;
