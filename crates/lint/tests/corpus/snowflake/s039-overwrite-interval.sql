-- form: script
-- expect: OM409 error `INSERT OVERWRITE INTO MART.HOUR_TOTAL`
INSERT OVERWRITE INTO MART.HOUR_TOTAL (HOUR_TS, N)
SELECT DATE_TRUNC('hour', EVENT_TS), COUNT(*) FROM RAW.EVENT
WHERE EVENT_TS >= '{{ data_interval_start }}' AND EVENT_TS < '{{ data_interval_end }}' GROUP BY 1;
