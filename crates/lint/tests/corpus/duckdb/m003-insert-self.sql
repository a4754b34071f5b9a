-- form: script
-- expect: OM303 error `mart.balance`
CREATE OR REPLACE TABLE mart.balance AS
SELECT account, sum(amount) AS amount
FROM (
    SELECT account, amount FROM mart.balance
    UNION ALL
    SELECT account, amount FROM raw.booking WHERE booked_on = $day
)
GROUP BY account;
