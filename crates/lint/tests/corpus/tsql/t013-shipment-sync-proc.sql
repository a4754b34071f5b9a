-- form: script
-- expect: OM317 error `WHEN NOT MATCHED BY SOURCE THEN DELETE`
-- because: the source holds only @From..@To, so every shipment outside the interval is deleted
CREATE OR ALTER PROCEDURE etl.usp_SyncShipment
    @From date,
    @To   date      -- exclusive
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    ;WITH src AS (
        SELECT  s.ShipmentId,
                s.ShipDate,
                MAX(s.CarrierCode)  AS CarrierCode,
                SUM(s.WeightKg)     AS WeightKg,
                COUNT_BIG(*)        AS Parcels
        FROM    stg.ShipmentParcel AS s
        WHERE   s.ShipDate >= @From
          AND   s.ShipDate <  @To
          AND   s.ShipmentId IS NOT NULL
        GROUP BY s.ShipmentId, s.ShipDate
    )
    MERGE dbo.Shipment WITH (HOLDLOCK) AS t
    USING src AS s
       ON t.ShipmentId = s.ShipmentId AND t.ShipDate = s.ShipDate
    WHEN MATCHED THEN
        UPDATE SET t.CarrierCode = s.CarrierCode, t.WeightKg = s.WeightKg, t.Parcels = s.Parcels
    WHEN NOT MATCHED BY TARGET THEN
        INSERT (ShipmentId, ShipDate, CarrierCode, WeightKg, Parcels)
        VALUES (s.ShipmentId, s.ShipDate, s.CarrierCode, s.WeightKg, s.Parcels)
    WHEN NOT MATCHED BY SOURCE THEN
        DELETE;
END
GO
