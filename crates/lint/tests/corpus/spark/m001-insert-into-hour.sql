-- form: script
-- expect: OM301 error `INSERT INTO ${destination_table}`
-- Usage: spark3-sql -f aqs_hourly.hql -d source_table=wmf.webrequest -d destination_table=wmf.aqs -d year=2024 -d month=1 -d day=1 -d hour=1
INSERT INTO ${destination_table}
SELECT /*+ COALESCE(1) */
    cache_status,
    http_status,
    COUNT(1) AS request_count,
    TO_TIMESTAMP('${year}-${month}-${day} ${hour}:00:00') AS hour
FROM ${source_table}
WHERE year = ${year} AND month = ${month} AND day = ${day} AND hour = ${hour}
GROUP BY cache_status, http_status;
