-- form: script
-- expect: none
SET NOCOUNT ON;
SET XACT_ABORT ON;
BEGIN TRAN;
DELETE FROM mart.DimCarrier;
INSERT INTO mart.DimCarrier (CarrierCode, CarrierName, Country, LoadedBy, LoadedAt)
SELECT c.CarrierCode,
       MAX(c.CarrierName),
       MAX(ISNULL(c.Country, 'n/a')),
       'usp_LoadCarrier',
       SYSDATETIME()
FROM ods.Carrier AS c
GROUP BY c.CarrierCode;
COMMIT TRAN;
