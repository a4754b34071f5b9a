-- form: script
-- expect: none
-- rides of one day -> parquet for the notebook people.  duckdb -c ".read rides_day.sql"
-- landing files are immutable, one folder per day
CREATE OR REPLACE TEMP TABLE rides AS
SELECT
    ride_id,
    bike_id,
    CAST(ride_date AS DATE) AS ride_date,
    start_station,
    end_station,
    duration_s
FROM read_csv('landing/rides/{{ ds }}/*.csv', header = true, union_by_name = true)
WHERE ride_id IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY ride_id ORDER BY file_seq DESC, line_no DESC) = 1;

COPY (
    SELECT
        ride_date,
        start_station,
        count(*)                                            AS rides,
        list(DISTINCT end_station ORDER BY end_station)     AS destinations,
        count(*) FILTER (WHERE hash(bike_id) % 10 = 0)      AS rides_sample_10pct
    FROM rides
    GROUP BY ride_date, start_station
    ORDER BY ride_date, start_station
) TO 'export/rides/{{ ds }}.parquet' (FORMAT parquet);
