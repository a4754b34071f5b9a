-- form: script
-- expect: none
-- because: a procedure body runs in one transaction
CREATE OR REPLACE PROCEDURE dwh.load_fact_rental(p_from date, p_to date)
LANGUAGE plpgsql
AS $$
DECLARE
    v_rows integer;
BEGIN
    DELETE FROM dwh.fact_rental
     WHERE rental_date >= p_from AND rental_date < p_to;

    INSERT INTO dwh.fact_rental (rental_id, rental_date, customer_id, film_id, amount)
    SELECT r.rental_id, r.rental_date, r.customer_id, i.film_id, p.amount
      FROM src.rental r
      JOIN src.inventory i ON i.inventory_id = r.inventory_id
      JOIN src.payment p ON p.rental_id = r.rental_id
     WHERE r.rental_date >= p_from AND r.rental_date < p_to;

    GET DIAGNOSTICS v_rows = ROW_COUNT;
    RAISE NOTICE 'loaded % rows', v_rows;
END;
$$;
