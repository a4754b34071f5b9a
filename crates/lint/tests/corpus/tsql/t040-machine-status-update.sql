-- form: script
-- expect: OM209 warning `dbo.ShiftLog AS l`
-- expect: OM301 error `INSERT INTO dbo.MachineShift`
-- because: several log lines per machine match, an arbitrary one is written a second run of the shift adds its rows again
USE Mes;
GO
-- set the machine's current order from the shift log (several log lines per machine!)
DECLARE @Shift int = $(ShiftNo);

SET XACT_ABORT ON;
BEGIN TRANSACTION;

UPDATE m
SET    m.CurrentOrder = l.OrderNo,
       m.Operator     = l.OperatorId,
       m.Speed        = l.TargetSpeed
FROM   dbo.Machine AS m
JOIN   dbo.ShiftLog AS l
  ON   l.MachineId = m.MachineId
WHERE  l.ShiftNo = @Shift
  AND  l.EntryType IN ('START', 'CHANGE');

INSERT INTO dbo.MachineShift (MachineId, ShiftNo, Entries, FirstAt, LastAt)
SELECT l.MachineId, l.ShiftNo, COUNT(*), MIN(l.LoggedAt), MAX(l.LoggedAt)
FROM   dbo.ShiftLog AS l
WHERE  l.ShiftNo = @Shift
GROUP BY l.MachineId, l.ShiftNo;

COMMIT TRANSACTION;
