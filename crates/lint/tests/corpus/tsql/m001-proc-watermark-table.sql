-- form: script
-- expect: OM305 error `SELECT MAX(LastEdited) FROM dw.FactTransfer`
CREATE OR ALTER PROCEDURE etl.LoadTransfers
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @from datetime2 = (SELECT MAX(LastEdited) FROM dw.FactTransfer);

    INSERT INTO dw.FactTransfer (TransferNo, FromSite, ToSite, Qty, LastEdited)
    SELECT t.TransferNo, t.FromSite, t.ToSite, t.Qty, t.LastEdited
    FROM wms.Transfer AS t
    WHERE t.LastEdited > @from;
END
GO
