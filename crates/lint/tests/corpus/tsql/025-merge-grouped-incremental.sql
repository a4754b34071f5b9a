-- form: script
-- expect: none
MERGE mart.MachineHour AS t
USING (
    SELECT MachineId, HourStart, SUM(Pieces) AS Pieces, MAX(Temperature) AS MaxTemperature
    FROM ods.MachineLog
    WHERE HourStart >= @from AND HourStart < @to
    GROUP BY MachineId, HourStart
) AS s
ON t.MachineId = s.MachineId AND t.HourStart = s.HourStart
WHEN MATCHED THEN UPDATE SET Pieces = s.Pieces, MaxTemperature = s.MaxTemperature
WHEN NOT MATCHED THEN INSERT (MachineId, HourStart, Pieces, MaxTemperature)
VALUES (s.MachineId, s.HourStart, s.Pieces, s.MaxTemperature);
