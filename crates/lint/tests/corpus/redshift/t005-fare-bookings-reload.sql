-- form: script
-- expect: OM404 error `booking_date between dateadd(day, -6, '{{ ds }}'::date) and '{{ ds }}'::date`
-- expect: OM201 warning `row_number() over (partition by fare_id order by filed_on desc)`
-- because: seven days are deleted but only one day is put back, so six days are lost filed_on is a day; two filings of a fare on one day tie and either basis is stored
/* airflow: dag=fares, task=reload_fact
   Pricing asked for a 7-day reload because PSS corrects bookings up to a week */
begin;

delete from dw.fact_booking
where booking_date between dateadd(day, -6, '{{ ds }}'::date) and '{{ ds }}'::date;

insert into dw.fact_booking
    (booking_date, pnr, segment_no, fare_basis, amount, currency)
select
    b.booking_date,
    b.pnr,
    b.segment_no,
    coalesce(f.fare_basis, 'UNK'),
    b.amount,
    b.currency
from ods.booking_segment b
left join (
        select fare_id, fare_basis,
               row_number() over (partition by fare_id order by filed_on desc) as rn
        from ods.fare_filing
        where filed_on <= '{{ ds }}'::date
     ) f
       on f.fare_id = b.fare_id
      and f.rn = 1
where b.booking_date = '{{ ds }}'::date
  and b.status in ('HK', 'TK', 'RR');

commit;
