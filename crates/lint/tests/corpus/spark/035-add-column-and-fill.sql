-- form: script
-- expect: OM314 warning `ADD COLUMNS (segment STRING)`
ALTER TABLE gold.customer ADD COLUMNS (segment STRING);
UPDATE gold.customer SET segment = CASE WHEN revenue > 10000 THEN 'key' ELSE 'other' END;
