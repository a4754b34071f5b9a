-- form: script
-- expect: OM313 error `BULK INSERT landing.Meter`
BULK INSERT landing.Meter
FROM 'imports\meter.csv'
WITH (FORMAT = 'CSV', FIRSTROW = 2, FIELDTERMINATOR = ';', TABLOCK);
