-- form: script
-- expect: none
DECLARE from_day DATE DEFAULT DATE('{{ ds }}');

CREATE TEMP TABLE changed AS
SELECT booking_id, hotel_id, stay_date, price
FROM raw.booking_change
WHERE stay_date = from_day
QUALIFY ROW_NUMBER() OVER (PARTITION BY booking_id ORDER BY changed_at DESC, change_id DESC) = 1;

BEGIN TRANSACTION;
DELETE FROM mart.booking WHERE stay_date = from_day;
INSERT INTO mart.booking (booking_id, hotel_id, stay_date, price)
SELECT booking_id, hotel_id, stay_date, price FROM changed;
COMMIT TRANSACTION;
