-- form: model
-- expect: OM401 error `raw.rental`
/* oncemore
kind: slice
interval: month
time: rented_on
key: [rental_no]
*/
SELECT rental_no, rented_on, bike_no, minutes
FROM raw.rental
WHERE minutes > 0
