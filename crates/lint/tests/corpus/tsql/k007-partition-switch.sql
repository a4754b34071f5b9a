-- form: script
-- expect: none
SET XACT_ABORT ON;
TRUNCATE TABLE stage.FactMeter_Switch;

INSERT INTO stage.FactMeter_Switch (MeterNo, ReadDate, Kwh)
SELECT MeterNo, ReadDate, SUM(Kwh)
FROM raw.MeterRead
WHERE ReadDate >= @From AND ReadDate < @To
GROUP BY MeterNo, ReadDate;

BEGIN TRAN;
ALTER TABLE dw.FactMeter SWITCH PARTITION $PARTITION.pfMonth(@From) TO dw.FactMeter_Out PARTITION $PARTITION.pfMonth(@From);
ALTER TABLE stage.FactMeter_Switch SWITCH TO dw.FactMeter PARTITION $PARTITION.pfMonth(@From);
TRUNCATE TABLE dw.FactMeter_Out;
COMMIT TRAN;
