-- form: script
-- expect: none
CREATE OR ALTER PROCEDURE mart.usp_LoadTicketSales
    @From date,
    @To   date
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    IF @From IS NULL OR @To IS NULL
        THROW 50001, 'Interval missing. GETDATE() is no default here.', 1;

    IF OBJECT_ID('tempdb..#sales') IS NOT NULL DROP TABLE #sales;

    SELECT  s.EventDate, s.VenueId, s.Channel,
            COUNT(*)                AS Tickets,
            SUM(s.PriceCents)       AS RevenueCents,
            STRING_AGG(s.PromoCode, ',') WITHIN GROUP (ORDER BY s.PromoCode) AS PromoCodes
    INTO    #sales
    FROM    ticketing.Sale AS s
    WHERE   s.EventDate >= @From AND s.EventDate < @To
      AND   s.Voided = 0
    GROUP BY s.EventDate, s.VenueId, s.Channel;

    BEGIN TRAN;
        DELETE FROM mart.TicketSales
        WHERE  EventDate >= @From AND EventDate < @To;

        INSERT INTO mart.TicketSales (EventDate, VenueId, Channel, Tickets, RevenueCents, PromoCodes)
        SELECT EventDate, VenueId, Channel, Tickets, RevenueCents, PromoCodes
        FROM   #sales;
    COMMIT TRAN;
END
GO
