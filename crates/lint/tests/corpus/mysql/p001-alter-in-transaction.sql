-- form: script
-- expect: OM311 error `ALTER TABLE price`
START TRANSACTION;
UPDATE price SET currency = 'EUR' WHERE currency IS NULL;
ALTER TABLE price MODIFY currency CHAR(3) NOT NULL;
UPDATE price SET active = 1 WHERE currency = 'EUR';
COMMIT;
