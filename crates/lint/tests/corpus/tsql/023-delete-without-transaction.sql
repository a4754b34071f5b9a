-- form: script
-- expect: OM310 error `DELETE FROM mart.RouteDay`
CREATE OR ALTER PROCEDURE etl.LoadRouteDay @day date
AS
BEGIN
    SET NOCOUNT ON;
    DELETE FROM mart.RouteDay WHERE RouteDate = @day;
    INSERT INTO mart.RouteDay (RouteDate, RouteId, Trips)
    SELECT TripDate, RouteId, COUNT(*)
    FROM ods.Trip
    WHERE TripDate = @day
    GROUP BY TripDate, RouteId;
END;
