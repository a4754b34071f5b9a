-- form: script
-- expect: none
MERGE INTO mart.leg AS t USING (
  SELECT vehicle_id, ping_at, leg_m FROM (
    SELECT vehicle_id, ping_at, odometer - lag(odometer) OVER (PARTITION BY vehicle_id ORDER BY ping_at) AS leg_m
    FROM (SELECT vehicle_id, ping_at, max(odometer) AS odometer FROM raw.ping
          WHERE ping_at >= TIMESTAMP '{{ start }}' - INTERVAL '1' DAY AND ping_at < TIMESTAMP '{{ end }}' GROUP BY 1, 2)
  ) WHERE ping_at >= TIMESTAMP '{{ start }}'
) AS s ON t.vehicle_id = s.vehicle_id AND t.ping_at = s.ping_at
WHEN MATCHED THEN UPDATE SET leg_m = s.leg_m
WHEN NOT MATCHED THEN INSERT (vehicle_id, ping_at, leg_m) VALUES (s.vehicle_id, s.ping_at, s.leg_m);
