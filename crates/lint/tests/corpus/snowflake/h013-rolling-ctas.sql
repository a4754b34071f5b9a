-- form: script
-- expect: OM101 error `current_timestamp()`
create or replace table ops.stuck_shipments as
select shipment_no, carrier, last_scan_at
from wms.shipment
where delivered_at is null
  and last_scan_at < dateadd(hour, -48, current_timestamp());
