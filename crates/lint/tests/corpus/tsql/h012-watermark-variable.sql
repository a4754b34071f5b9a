-- form: script
-- expect: OM305 error `SELECT MAX(ModifiedAt) FROM dwh.FactTicket`
DECLARE @LastLoad datetime2(3);
SET @LastLoad = (SELECT MAX(ModifiedAt) FROM dwh.FactTicket);

INSERT INTO dwh.FactTicket (TicketNo, ModifiedAt, Queue, Priority)
SELECT TicketNo, ModifiedAt, Queue, Priority
FROM helpdesk.Ticket
WHERE ModifiedAt > @LastLoad;
