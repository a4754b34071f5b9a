-- form: script
-- expect: OM201 warning `row_number() over (partition by reservation_id order by version_no desc)`
-- because: Arguable: version_no is unique in a reservation, not shown here.
-- upsert reservations of one file set
create temp table res_in (like booking.reservation);

copy res_in
from 's3://acme-lake/reservations/dt={{ ds }}/'
iam_role 'arn:aws:iam::111122223333:role/rs-load'
format as parquet;

create temp table res_new as
select reservation_id, version_no, hotel_id, guest_id, check_in, nights, amount_cents
from (
    select r.*,
           row_number() over (partition by reservation_id order by version_no desc) as rn   -- unique with reservation_id
    from res_in r
)
where rn = 1;

begin;

delete from booking.reservation
using res_new
where booking.reservation.reservation_id = res_new.reservation_id
  and booking.reservation.version_no <= res_new.version_no;

insert into booking.reservation
  (reservation_id, version_no, hotel_id, guest_id, check_in, nights, amount_cents)
select n.reservation_id, n.version_no, n.hotel_id, n.guest_id, n.check_in, n.nights, n.amount_cents
from res_new n
left join booking.reservation b on b.reservation_id = n.reservation_id
where b.reservation_id is null;

commit;
