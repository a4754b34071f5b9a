-- form: script
-- expect: OM317 error `WHEN NOT MATCHED BY SOURCE THEN DELETE`
MERGE dw.RoomOccupancy WITH (HOLDLOCK) AS t
USING (
    SELECT RoomNo, StayDate, MAX(GuestName) AS GuestName
    FROM pms.Reservation
    WHERE StayDate = @StayDate
    GROUP BY RoomNo, StayDate
) AS s
ON t.RoomNo = s.RoomNo AND t.StayDate = s.StayDate
WHEN MATCHED THEN UPDATE SET t.GuestName = s.GuestName
WHEN NOT MATCHED BY TARGET THEN INSERT (RoomNo, StayDate, GuestName) VALUES (s.RoomNo, s.StayDate, s.GuestName)
WHEN NOT MATCHED BY SOURCE THEN DELETE;
