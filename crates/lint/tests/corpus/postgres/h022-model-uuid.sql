-- form: model
-- expect: OM105 error `gen_random_uuid()`
/* oncemore
kind: full
key: [booking_ref]
*/
SELECT gen_random_uuid() AS public_id, b.booking_ref, b.hotel_code, b.arrival
FROM raw.booking AS b
WHERE b.state <> 'cancelled'
