-- form: script
-- expect: none
-- because: XACT_ABORT and TRY/CATCH around delete and insert of the same half-open day; SYSUTCDATETIME only stamps the run log, whose key is the run id, and the log row is replaced, not appended.
CREATE OR ALTER PROCEDURE etl.usp_LoadShipmentDay
    @BusinessDate date,
    @RunId        uniqueidentifier
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @Rows int;

    BEGIN TRY
        BEGIN TRANSACTION;

        DELETE FROM mart.FactShipment
        WHERE  ShippedAt >= @BusinessDate
          AND  ShippedAt <  DATEADD(DAY, 1, @BusinessDate);

        INSERT INTO mart.FactShipment (ShipmentId, CustomerKey, ShippedAt, WeightKg, Freight)
        SELECT s.ShipmentId,
               ISNULL(c.CustomerKey, -1),
               s.ShippedAt,
               s.WeightKg,
               s.Freight
        FROM   ods.Shipment AS s
        LEFT JOIN mart.DimCustomer AS c
               ON c.CustomerNo = s.CustomerNo
        WHERE  s.ShippedAt >= @BusinessDate
          AND  s.ShippedAt <  DATEADD(DAY, 1, @BusinessDate);

        SET @Rows = @@ROWCOUNT;

        DELETE FROM etl.RunLog WHERE RunId = @RunId;
        INSERT INTO etl.RunLog (RunId, ProcName, BusinessDate, RowsWritten, FinishedAt)
        VALUES (@RunId, N'usp_LoadShipmentDay', @BusinessDate, @Rows, SYSUTCDATETIME());

        COMMIT TRANSACTION;
    END TRY
    BEGIN CATCH
        IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
        THROW;
    END CATCH
END;
