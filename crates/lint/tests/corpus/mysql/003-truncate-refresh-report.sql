-- form: script
-- expect: OM312 error `truncate report_payments_daily`
drop procedure if exists refresh_report_payments_daily;
delimiter //
create procedure refresh_report_payments_daily()
begin
  truncate report_payments_daily;
  insert into report_payments_daily (tenant_id, day, currency, amount)
  select tenant_id, day, currency, amount from v_report_payments_daily;
end//
delimiter ;
