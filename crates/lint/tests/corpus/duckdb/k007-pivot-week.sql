-- form: script
-- expect: none
CREATE OR REPLACE TABLE rpt.week_matrix AS
PIVOT (
    SELECT store, dayname(sold_on) AS weekday, amount
    FROM mart.sale
    WHERE sold_on >= getvariable('week_start') AND sold_on < getvariable('week_start') + INTERVAL 7 DAY
)
ON weekday IN ('Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday')
USING sum(amount)
GROUP BY store;
