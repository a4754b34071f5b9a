-- form: script
-- expect: OM101 error `NOW()`
UPDATE shop.parcel SET shipped_at = NOW() WHERE state = 'packed' AND packed_on = '{{ ds }}';
