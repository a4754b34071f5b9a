-- form: script
-- expect: OM310 error `ALTER TABLE ads.spend DROP PARTITION '{{ ds_nodash }}'`
ALTER TABLE ads.spend DROP PARTITION '{{ ds_nodash }}';
INSERT INTO ads.spend (day, network, cost)
SELECT day, network, sum(cost)
FROM ads.spend_raw
WHERE day = '{{ ds }}'
GROUP BY day, network;
