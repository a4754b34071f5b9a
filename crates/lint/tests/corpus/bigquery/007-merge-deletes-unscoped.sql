-- form: script
-- expect: OM317 error `WHEN NOT MATCHED BY SOURCE THEN DELETE`
MERGE mart.booking_day AS t
USING (
  SELECT booking_day, hotel_id, COUNT(*) AS bookings
  FROM raw.bookings
  WHERE booking_day = @run_day
  GROUP BY booking_day, hotel_id
) AS s
ON t.booking_day = s.booking_day AND t.hotel_id = s.hotel_id
WHEN MATCHED THEN UPDATE SET bookings = s.bookings
WHEN NOT MATCHED BY TARGET THEN INSERT (booking_day, hotel_id, bookings) VALUES (s.booking_day, s.hotel_id, s.bookings)
WHEN NOT MATCHED BY SOURCE THEN DELETE;
