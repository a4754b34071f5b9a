-- form: script
-- expect: OM307 warning `USING staging.supplier_updates…`
MERGE INTO core.supplier T
USING staging.supplier_updates S
ON T.supplier_id = S.supplier_id
WHEN MATCHED THEN
  UPDATE SET name = S.name, rating = S.rating
WHEN NOT MATCHED THEN
  INSERT (supplier_id, name, rating) VALUES (S.supplier_id, S.name, S.rating);
