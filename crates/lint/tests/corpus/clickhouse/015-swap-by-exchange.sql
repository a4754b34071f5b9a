-- form: script
-- expect: none
TRUNCATE TABLE IF EXISTS web.top_referrers_new;
INSERT INTO web.top_referrers_new (referrer, visits)
SELECT domain(referrer) AS referrer, count() AS visits
FROM web.hits
WHERE day >= {from:Date} AND day < {to:Date}
GROUP BY referrer;
EXCHANGE TABLES web.top_referrers_new AND web.top_referrers;
