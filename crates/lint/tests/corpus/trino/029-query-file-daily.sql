-- form: script
-- expect: none
SELECT
    s.ds,
    s.market,
    count(*) AS searches,
    count_if(s.results = 0) AS empty_searches,
    approx_percentile(s.latency_ms, 0.95) AS p95
FROM hive.core.search s
WHERE s.ds = '{{ ds }}'
GROUP BY s.ds, s.market
