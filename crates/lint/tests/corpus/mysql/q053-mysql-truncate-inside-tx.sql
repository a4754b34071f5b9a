-- form: script
-- expect: OM311 error `TRUNCATE TABLE dwh.stg_ride`
-- because: TRUNCATE commits implicitly in MySQL, so the DELETE is already visible and permanent, and if a later INSERT fails the interval is empty.
START TRANSACTION;

DELETE FROM dwh.fact_ride
 WHERE ride_date >= '${start}'
   AND ride_date <  '${end}';

TRUNCATE TABLE dwh.stg_ride;

INSERT INTO dwh.stg_ride (ride_id, ride_date, rider_id, meters, fare_cents)
SELECT r.id, r.ride_date, r.rider_id, r.meters, r.fare_cents
  FROM ops.ride AS r
 WHERE r.ride_date >= '${start}'
   AND r.ride_date <  '${end}'
   AND r.state = 'finished';

INSERT INTO dwh.fact_ride (ride_id, ride_date, rider_id, city_id, meters, fare_cents)
SELECT s.ride_id, s.ride_date, s.rider_id, u.city_id, s.meters, s.fare_cents
  FROM dwh.stg_ride AS s
  JOIN dwh.dim_rider AS u
    ON u.rider_id = s.rider_id;

COMMIT;
