-- form: model
-- expect: none
/* oncemore
kind: slice
interval: day
time: reading_day
key: [gauge, reading_day]
*/
WITH daily AS (
  SELECT gauge, reading_day, max(level_cm) AS level_cm
  FROM raw.river_level
  WHERE reading_day >= :interval_start - INTERVAL 7 DAY AND reading_day < :interval_end
  GROUP BY gauge, reading_day
),
compared AS (
  SELECT gauge, reading_day, level_cm,
         level_cm - lag(level_cm) OVER (PARTITION BY gauge ORDER BY reading_day) AS risen_cm
  FROM daily
)
SELECT gauge, reading_day, level_cm, risen_cm
FROM compared
WHERE reading_day >= :interval_start AND reading_day < :interval_end
