-- form: script
-- expect: none
begin;
create temp table seat_stage (like public.seat);

copy seat_stage from 's3://acme-in/seat/{{ ds_nodash }}.csv.gz'
iam_role '{{ params.role }}' csv gzip ignoreheader 1;

delete from public.seat using seat_stage where public.seat.seat_id = seat_stage.seat_id;
insert into public.seat (seat_id, hall_id, seat_row, seat_no)
select seat_id, hall_id, seat_row, seat_no from seat_stage;

drop table seat_stage;
commit;
