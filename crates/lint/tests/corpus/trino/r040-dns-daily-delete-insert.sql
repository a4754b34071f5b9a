-- form: script
-- expect: OM310 error `DELETE FROM iceberg.security.dns_daily`
-- because: Trino commits each statement on its own, so a failure or a reader between the two sees an empty day
-- iceberg tables; executed statement by statement by the Trino operator
DELETE FROM iceberg.security.dns_daily
WHERE log_date = DATE '{{ ds }}';

INSERT INTO iceberg.security.dns_daily
    (log_date, resolver, qname_suffix, queries, nxdomains, first_seen, last_seen)
SELECT
    q.log_date,
    q.resolver,
    regexp_extract(lower(q.qname), '([^.]+\.[^.]+)\.?$', 1) AS qname_suffix,
    count(*)                                               AS queries,
    count_if(q.rcode = 3)                                  AS nxdomains,
    min(q.seen_at)                                         AS first_seen,
    max(q.seen_at)                                         AS last_seen
FROM iceberg.security.dns_query AS q
WHERE q.log_date = DATE '{{ ds }}'
GROUP BY 1, 2, 3;
