-- form: script
-- expect: OM310 error `DELETE FROM iceberg.mart.visit`
DELETE FROM iceberg.mart.visit WHERE day = DATE '{{ ds }}';
INSERT INTO iceberg.mart.visit (day, page, n) SELECT day, page, count(*) FROM hive.raw.visit WHERE day = DATE '{{ ds }}' GROUP BY day, page;
