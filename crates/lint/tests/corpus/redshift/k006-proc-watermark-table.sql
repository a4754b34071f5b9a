-- form: script
-- expect: OM305 error `SELECT MAX(updated_at) INTO v_high FROM edw.dim_store`
CREATE OR REPLACE PROCEDURE edw.load_dim_store()
AS $$
DECLARE
  v_high TIMESTAMP;
BEGIN
  SELECT MAX(updated_at) INTO v_high FROM edw.dim_store;

  DROP TABLE IF EXISTS wrk_store;
  CREATE TEMP TABLE wrk_store AS
  SELECT store_id, store_name, region_code, updated_at
  FROM stg.store
  WHERE updated_at > v_high;

  DELETE FROM edw.dim_store USING wrk_store w WHERE edw.dim_store.store_id = w.store_id;

  INSERT INTO edw.dim_store (store_id, store_name, region_code, updated_at)
  SELECT store_id, store_name, region_code, updated_at FROM wrk_store;
END;
$$ LANGUAGE plpgsql;
