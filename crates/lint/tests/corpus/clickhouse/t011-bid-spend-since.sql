-- form: script
-- expect: OM401 error `event_date >= toDate('{{ ds }}')`
-- because: no upper bound: a backfill of March counts everything since March into that one day
-- advertiser spend of the day; {{ ds }} from airflow
CREATE TABLE IF NOT EXISTS ads.spend_daily_tmp AS ads.spend_daily;
TRUNCATE TABLE ads.spend_daily_tmp;

INSERT INTO ads.spend_daily_tmp (day, advertiser_id, campaign_id, wins, spend_micros)
SELECT
    toDate('{{ ds }}')            AS day,
    advertiser_id,
    campaign_id,
    countIf(event = 'win')        AS wins,
    sum(price_micros)             AS spend_micros
FROM ads.auction_event
WHERE event_date >= toDate('{{ ds }}')
  AND advertiser_id NOT IN (SELECT advertiser_id FROM ads.house_accounts)
GROUP BY advertiser_id, campaign_id;

ALTER TABLE ads.spend_daily REPLACE PARTITION '{{ ds }}' FROM ads.spend_daily_tmp;
