-- form: script
-- expect: none
-- because: One function call is one transaction; delete and insert cover the same UTC days (the day is a monotone, zone-explicit derivation of hour_start); now() only fills updated_at.
-- Rebuild the daily usage rollup for [p_from, p_to). Called by the scheduler with one
-- day, or by hand with a longer range after a correction.
CREATE OR REPLACE FUNCTION metering.rebuild_usage_daily(p_from date, p_to date)
RETURNS bigint
LANGUAGE plpgsql
AS $fn$
DECLARE
  v_rows bigint;
BEGIN
  DELETE FROM metering.usage_daily
   WHERE usage_day >= p_from
     AND usage_day <  p_to;

  INSERT INTO metering.usage_daily
         (tenant_id, usage_day, meter, units, calls, updated_at)
  SELECT h.tenant_id,
         (h.hour_start AT TIME ZONE 'UTC')::date AS usage_day,
         h.meter,
         sum(coalesce(h.units, 0))::bigint,
         sum(h.calls)::bigint,
         now()
    FROM metering.usage_hourly AS h
   WHERE h.hour_start >= (p_from::timestamp AT TIME ZONE 'UTC')
     AND h.hour_start <  (p_to::timestamp AT TIME ZONE 'UTC')
   GROUP BY h.tenant_id, (h.hour_start AT TIME ZONE 'UTC')::date, h.meter;

  GET DIAGNOSTICS v_rows = ROW_COUNT;
  RETURN v_rows;
END;
$fn$;
