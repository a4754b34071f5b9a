-- form: script
-- expect: none
FOR r IN (SELECT DISTINCT event_date FROM staging.events_in WHERE event_date IS NOT NULL)
DO
  BEGIN TRANSACTION;
  DELETE FROM mart.events WHERE event_date = r.event_date;
  INSERT INTO mart.events (event_date, user_id, events)
  SELECT event_date, user_id, COUNT(*)
  FROM staging.events_in
  WHERE event_date = r.event_date
  GROUP BY event_date, user_id;
  COMMIT TRANSACTION;
END FOR;
