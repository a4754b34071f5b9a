-- form: model
-- expect: none
/* oncemore
kind: full
key: [room_no]
*/
SELECT room_no, listagg(DISTINCT amenity, ', ') WITHIN GROUP (ORDER BY amenity) AS amenities
FROM raw.room_amenity
GROUP BY room_no
