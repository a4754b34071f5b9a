-- form: script
-- expect: none
UNLOAD ('SELECT day, sum(n) FROM mart.visit WHERE day = ''{{ ds }}'' GROUP BY day') TO 's3://out/visit/{{ ds }}/' IAM_ROLE default PARQUET ALLOWOVERWRITE;
