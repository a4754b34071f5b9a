-- form: script
-- expect: OM310 error `DELETE FROM iceberg.mart.listing_day`
DELETE FROM iceberg.mart.listing_day WHERE ds = DATE '{{ ds }}';

INSERT INTO iceberg.mart.listing_day (ds, market, listings, hosts)
SELECT
    DATE '{{ ds }}',
    market,
    count(*),
    count(DISTINCT host_id)
FROM hive.core.listing
WHERE ds = DATE '{{ ds }}'
GROUP BY market;
