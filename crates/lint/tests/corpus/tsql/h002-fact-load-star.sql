-- form: script
-- expect: OM301 error `insert into prod.FactOrders`
-- expect: OM315 warning `select *`
create procedure integration.Load_Orders
as
begin
    set nocount on;
    set xact_abort on;

    begin try
        begin transaction;

        insert into prod.FactOrders
        select * from stg.Orders_staging

        commit transaction;
    end try
    begin catch
        if @@trancount > 0 rollback transaction;
        throw;
    end catch
end
