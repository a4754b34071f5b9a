-- form: script
-- expect: none
WITH totals AS (
    SELECT project, sum(view_count) AS views
    FROM wmf.projectview_hourly
    WHERE year = ${year} AND month = ${month} AND day = ${day}
    GROUP BY project
)
INSERT OVERWRITE DIRECTORY '${destination_directory}'
USING csv OPTIONS ('compression' 'gzip', 'sep' ' ')
SELECT project, views FROM totals ORDER BY project;
