-- form: model
-- expect: none
/* oncemore
kind: slice
interval: day
time: queried_on
key: [queried_on, resolver]
*/
SELECT queried_on, resolver, count(*) AS queries, sum(CASE WHEN rcode = 3 THEN 1 ELSE 0 END) AS nxdomain
FROM raw.dns_query
WHERE queried_on >= :interval_start AND queried_on < :interval_end
GROUP BY queried_on, resolver
