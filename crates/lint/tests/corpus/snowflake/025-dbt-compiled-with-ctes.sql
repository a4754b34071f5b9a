-- form: script
-- expect: none
create or replace transient table analytics.marts.fct_rental as (
with rentals as (
    select * from analytics.staging.stg_rentals
),
payments as (
    select rental_id, sum(amount) as paid, max(paid_on) as last_paid_on
    from analytics.staging.stg_payments
    group by 1
),
final as (
    select
        r.rental_id,
        r.customer_id,
        r.rented_on,
        coalesce(p.paid, 0) as paid,
        iff(r.returned_on is null, 'open', 'closed') as state
    from rentals as r
    left join payments as p on p.rental_id = r.rental_id
)
select * from final
);
