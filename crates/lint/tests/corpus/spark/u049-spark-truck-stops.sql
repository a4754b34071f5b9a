-- form: script
-- expect: none
-- stops of trucks. Reads two days back so that each stop has its predecessor, writes one day
SET spark.sql.sources.partitionOverwriteMode=dynamic;

INSERT OVERWRITE TABLE logistics.truck_stop PARTITION (stop_date)
SELECT truck_id, stop_id, depot, arrived_at, prev_depot, stop_date
FROM (
  SELECT
    truck_id,
    stop_id,
    depot,
    arrived_at,
    LAG(depot) OVER (PARTITION BY truck_id ORDER BY arrived_at, stop_id) AS prev_depot,
    stop_date
  FROM logistics.truck_stop_raw
  WHERE stop_date >= date_sub(DATE '{{ ds }}', 2)
    AND stop_date <= DATE '{{ ds }}'
)
WHERE stop_date = DATE '{{ ds }}';
