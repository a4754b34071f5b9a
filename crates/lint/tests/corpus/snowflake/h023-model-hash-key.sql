-- form: model
-- expect: none
/* oncemore
kind: full
key: [address_key]
*/
SELECT sha2(street || '|' || zip || '|' || country) AS address_key, street, zip, country
FROM raw.address
GROUP BY street, zip, country
