-- form: script
-- expect: none
INSERT INTO gold.energy_daily REPLACE WHERE reading_date >= '${from}' AND reading_date < '${to}'
SELECT meter_id, reading_date, SUM(kwh) AS kwh
FROM silver.energy_reading
WHERE reading_date >= '${from}' AND reading_date < '${to}'
GROUP BY meter_id, reading_date;
