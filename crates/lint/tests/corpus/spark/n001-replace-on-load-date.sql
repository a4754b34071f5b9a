-- form: script
-- expect: OM102 error `current_date()`
INSERT OVERWRITE TABLE bronze.customers PARTITION (load_date)
SELECT customer_id, name, email, current_date() AS load_date
FROM landing.customers;
