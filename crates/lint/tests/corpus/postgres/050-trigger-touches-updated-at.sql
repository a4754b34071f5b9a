-- form: script
-- expect: none
CREATE OR REPLACE FUNCTION app.touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_at := now();
  RETURN NEW;
END;
$$;
DROP TRIGGER IF EXISTS touch_profile ON app.profile;
CREATE TRIGGER touch_profile BEFORE UPDATE ON app.profile FOR EACH ROW EXECUTE FUNCTION app.touch();
