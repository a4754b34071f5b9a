-- form: script
-- expect: OM313 error `BULK INSERT stg.Reading`
BULK INSERT stg.Reading
FROM 'D:\in\reading.csv'
WITH (FIRSTROW = 2, FIELDTERMINATOR = ';', ROWTERMINATOR = '\n', TABLOCK);
