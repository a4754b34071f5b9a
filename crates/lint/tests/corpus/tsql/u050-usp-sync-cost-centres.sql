-- form: script
-- expect: none
/* Cost centres are delivered complete each night (stg.CostCentreFull, PK CostCentreCode),
   so what is not in the delivery may go. */
CREATE PROCEDURE dim.usp_SyncCostCentre
AS
BEGIN
    SET XACT_ABORT, NOCOUNT ON;

    IF NOT EXISTS (SELECT TOP (1) 1 FROM stg.CostCentreFull)
    BEGIN
        RAISERROR('empty delivery, nothing done', 16, 1);
        RETURN;
    END

    MERGE dim.CostCentre WITH (HOLDLOCK) AS t
    USING (
        SELECT CostCentreCode, MAX(Label) AS Label, MAX(Owner) AS Owner, MAX(IsOpen) AS IsOpen
        FROM   stg.CostCentreFull
        WHERE  CostCentreCode IS NOT NULL
        GROUP BY CostCentreCode
    ) AS s
       ON t.CostCentreCode = s.CostCentreCode
    WHEN MATCHED AND EXISTS (SELECT s.Label, s.Owner, s.IsOpen EXCEPT SELECT t.Label, t.Owner, t.IsOpen) THEN
        UPDATE SET Label = s.Label, Owner = s.Owner, IsOpen = s.IsOpen
    WHEN NOT MATCHED BY TARGET THEN
        INSERT (CostCentreCode, Label, Owner, IsOpen)
        VALUES (s.CostCentreCode, s.Label, s.Owner, s.IsOpen)
    WHEN NOT MATCHED BY SOURCE THEN
        DELETE;
END
