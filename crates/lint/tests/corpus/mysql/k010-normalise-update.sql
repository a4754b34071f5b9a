-- form: script
-- expect: none
UPDATE customer_import
SET email = LOWER(TRIM(email)),
    phone = REGEXP_REPLACE(phone, '[^0-9+]', ''),
    country = COALESCE(country, 'DE')
WHERE batch_no = @batch;
