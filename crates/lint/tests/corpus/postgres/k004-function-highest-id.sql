-- form: script
-- expect: OM305 error `SELECT coalesce(max(ping_id), 0) INTO last_id FROM track.ping_hist`
CREATE OR REPLACE FUNCTION track.copy_pings() RETURNS bigint
LANGUAGE plpgsql AS $func$
DECLARE
    last_id bigint;
    n       bigint;
BEGIN
    SELECT coalesce(max(ping_id), 0) INTO last_id FROM track.ping_hist;

    INSERT INTO track.ping_hist (ping_id, vessel, seen_at, lat, lon)
    SELECT p.ping_id, p.vessel, p.seen_at, p.lat, p.lon
    FROM   track.ping p
    WHERE  p.ping_id > last_id;

    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
END;
$func$;
