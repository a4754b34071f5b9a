-- form: script
-- expect: OM101 error `CURDATE()`
START TRANSACTION;
DELETE FROM rpt_vacant_room;
INSERT INTO rpt_vacant_room (room_id, hotel_id, nights_empty)
SELECT r.room_id, r.hotel_id, DATEDIFF(CURDATE(), MAX(b.checkout_on))
FROM room r
JOIN booking b ON b.room_id = r.room_id
GROUP BY r.room_id, r.hotel_id;
COMMIT;
