-- form: script
-- expect: none
CREATE OR REPLACE FUNCTION metering.refresh_usage(p_day date)
RETURNS void LANGUAGE plpgsql AS $fn$
BEGIN
  -- one run per day at a time; second caller waits
  PERFORM pg_advisory_xact_lock(hashtext('metering.usage'), extract(doy FROM p_day)::int);

  INSERT INTO ops.job_lock (job_name, run_day)
  VALUES ('metering.usage', p_day)
  ON CONFLICT (job_name, run_day) DO NOTHING;

  DELETE FROM metering.usage_day WHERE day = p_day;

  INSERT INTO metering.usage_day (day, tenant_id, product, units, peak_units)
  SELECT p_day,
         u.tenant_id,
         u.product,
         sum(u.units),
         max(u.units)
    FROM metering.usage_raw u
   WHERE u.usage_day = p_day
     AND u.tenant_id IS NOT NULL
   GROUP BY u.tenant_id, u.product;

  RAISE NOTICE 'usage of % rebuilt at %', p_day, clock_timestamp();
END
$fn$;
