-- form: script
-- expect: OM310 error `ALTER TABLE mart.hits`
ALTER TABLE mart.hits DELETE WHERE day = toDate('${ds}');
INSERT INTO mart.hits (day, page, n) SELECT day, page, count() FROM raw.hits WHERE day = toDate('${ds}') GROUP BY day, page;
