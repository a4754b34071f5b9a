-- form: script
-- expect: none
BEGIN;
DROP TABLE IF EXISTS rpt.delay_bins;
CREATE TABLE rpt.delay_bins AS
SELECT airline,
       width_bucket AS bin,
       count(*) AS flights
FROM (
    SELECT airline, least(greatest(delay_min // 15, 0), 20) AS width_bucket
    FROM raw.flight
    WHERE flight_date >= $from AND flight_date < $to
)
GROUP BY ALL
ORDER BY airline, bin;
COMMIT;
