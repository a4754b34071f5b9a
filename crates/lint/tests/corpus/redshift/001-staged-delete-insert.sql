-- form: script
-- expect: none
BEGIN TRANSACTION;

CREATE TEMP TABLE stage_booking (LIKE core.booking);

COPY stage_booking
FROM 's3://acme-lake/booking/dt={{ ds }}/'
IAM_ROLE '{{ params.iam_role }}'
FORMAT AS PARQUET;

DELETE FROM core.booking
USING stage_booking
WHERE core.booking.booking_id = stage_booking.booking_id;

INSERT INTO core.booking
SELECT * FROM stage_booking;

DROP TABLE stage_booking;

END TRANSACTION;
