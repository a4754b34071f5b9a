-- form: script
-- expect: OM305 error `SELECT NVL(MAX(load_ts), '1970-01-01') INTO l_since FROM core.sale`
CREATE OR REPLACE PROCEDURE core.sp_load_sale()
AS $$
DECLARE
   l_since TIMESTAMP;
BEGIN
   SELECT NVL(MAX(load_ts), '1970-01-01') INTO l_since FROM core.sale;

   INSERT INTO core.sale (sale_id, store_id, amount, load_ts)
   SELECT s.sale_id, s.store_id, s.amount, s.load_ts
   FROM stg.sale s
   WHERE s.load_ts > l_since;
END;
$$ LANGUAGE plpgsql;
