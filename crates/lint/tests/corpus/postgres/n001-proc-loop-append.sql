-- form: script
-- expect: OM301 error `INSERT INTO dw.fact_meter`
CREATE OR REPLACE PROCEDURE dw.load_meters(p_from date, p_to date)
LANGUAGE plpgsql AS $body$
DECLARE
    r record;
BEGIN
    FOR r IN SELECT site_id FROM dw.site WHERE active LOOP
        INSERT INTO dw.fact_meter (site_id, read_on, kwh)
        SELECT m.site_id, m.read_on, sum(m.kwh)
        FROM   raw.meter m
        WHERE  m.site_id = r.site_id
        AND    m.read_on >= p_from AND m.read_on < p_to
        GROUP  BY m.site_id, m.read_on;
    END LOOP;
END
$body$;
