-- form: script
-- expect: none
-- because: The file path holds the day (the landing zone is write once), and the day is replaced in one transaction; the outer row_number is only the position of a departure within its own day and route and has a total order.
-- duckdb harbour.duckdb < ferry_departures.sql   (prepared with $run_date)
create table if not exists departures (
    run_date      date      not null,
    route_id      integer   not null,
    sailing_no    varchar   not null,
    departed_at   timestamp not null,
    cars          integer,
    passengers    integer,
    position_in_day integer not null,
    primary key (run_date, route_id, sailing_no)
);

begin transaction;

delete from departures where run_date = cast($run_date as date);

-- landing files are written once and never touched again
insert into departures
    (run_date, route_id, sailing_no, departed_at, cars, passengers, position_in_day)
with sailings as (
    select
        f.route_id,
        f.sailing_no,
        min(f.departed_at)   as departed_at,
        sum(f.cars)          as cars,
        sum(f.passengers)    as passengers
    from read_parquet(concat('landing/ferry/day=', $run_date, '/sailings.parquet')) as f
    group by f.route_id, f.sailing_no
)
select
    cast($run_date as date),
    route_id,
    sailing_no,
    departed_at,
    cars,
    passengers,
    row_number() over (partition by route_id order by departed_at, sailing_no)
from sailings;

commit;
