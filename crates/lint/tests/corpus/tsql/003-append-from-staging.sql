-- form: script
-- expect: OM301 error `insert into prod.FactReturns`
-- expect: OM315 warning `select *`
create or alter procedure integration.LoadReturns
as
begin
    set nocount on;
    set xact_abort on;
    begin try
        begin transaction;

        insert into prod.FactReturns
        select * from stg.Returns_staging;

        commit transaction;
    end try
    begin catch
        if @@TRANCOUNT > 0 rollback transaction;
        throw;
    end catch;
end
go
