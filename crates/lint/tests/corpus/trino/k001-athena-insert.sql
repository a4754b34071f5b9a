-- form: script
-- expect: OM301 error `INSERT INTO curated.waf_block`
INSERT INTO curated.waf_block
SELECT
    httprequest.clientip              AS client_ip,
    terminatingruleid                 AS rule_id,
    count(*)                          AS blocks,
    date_format(from_unixtime(timestamp / 1000, 'UTC'), '%Y-%m-%d') AS dt
FROM raw.waf_logs
WHERE action = 'BLOCK'
  AND date = '{{ ds }}'
GROUP BY 1, 2, 4
