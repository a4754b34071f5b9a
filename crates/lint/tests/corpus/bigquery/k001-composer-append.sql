-- form: script
-- expect: OM301 error `INSERT INTO `{{ params.project }}.mart.campaign_hour``
INSERT INTO `{{ params.project }}.mart.campaign_hour` (hour, campaign_id, impressions, clicks)
SELECT
  TIMESTAMP_TRUNC(event_time, HOUR) AS hour,
  campaign_id,
  COUNTIF(kind = 'impression'),
  COUNTIF(kind = 'click')
FROM `{{ params.project }}.raw.ad_event`
WHERE event_time >= TIMESTAMP('{{ data_interval_start }}')
  AND event_time < TIMESTAMP('{{ data_interval_end }}')
GROUP BY hour, campaign_id;
