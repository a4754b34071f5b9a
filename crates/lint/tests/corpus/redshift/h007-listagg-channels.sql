-- form: script
-- expect: OM205 error `LISTAGG(DISTINCT channel, ' > ')`
BEGIN;
DELETE FROM mkt.path_summary WHERE conversion_date = '{{ ds }}';
INSERT INTO mkt.path_summary (conversion_date, visitor_id, path)
SELECT conversion_date, visitor_id, LISTAGG(DISTINCT channel, ' > ')
FROM mkt.touchpoints
WHERE conversion_date = '{{ ds }}'
GROUP BY conversion_date, visitor_id;
COMMIT;
