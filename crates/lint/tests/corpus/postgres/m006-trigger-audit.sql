-- form: script
-- expect: none
CREATE OR REPLACE FUNCTION app.touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.updated_at := now();
    NEW.updated_by := current_user;
    RETURN NEW;
END;
$$;
DROP TRIGGER IF EXISTS touch ON app.invoice;
CREATE TRIGGER touch BEFORE UPDATE ON app.invoice FOR EACH ROW EXECUTE FUNCTION app.touch();
