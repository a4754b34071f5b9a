-- form: script
-- expect: OM201 warning `sum(amount) OVER (PARTITION BY account ORDER BY booked_on ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`
CREATE OR REPLACE TABLE ledger AS
SELECT account, booked_on, amount,
       sum(amount) OVER (PARTITION BY account ORDER BY booked_on ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS balance
FROM raw.bookings;
