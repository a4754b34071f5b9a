-- form: script
-- expect: OM317 error `WHEN NOT MATCHED BY SOURCE THEN DELETE`
MERGE INTO gold.tank_level AS t
USING (
  SELECT tank_id, level_day, max(litres) AS litres
  FROM silver.tank_reading
  WHERE level_day = '${day}'
  GROUP BY tank_id, level_day
) AS s
ON t.tank_id = s.tank_id AND t.level_day = s.level_day
WHEN MATCHED THEN UPDATE SET t.litres = s.litres
WHEN NOT MATCHED THEN INSERT (tank_id, level_day, litres) VALUES (s.tank_id, s.level_day, s.litres)
WHEN NOT MATCHED BY SOURCE THEN DELETE;
