-- form: script
-- expect: OM316 error `CURRENT_TIMESTAMP()`
-- expect: OM316 error `CURRENT_TIMESTAMP()`
-- because: a version begins when the job ran and not when the record changed; a repair run makes other versions.
-- DIM_SUPPLIER type 2 history.  Source = full extract from SAP (LFA1), landed nightly
BEGIN TRANSACTION;

UPDATE edw.dim_supplier d
   SET valid_to   = CURRENT_TIMESTAMP(),
       is_current = FALSE
  FROM stage.sap_lfa1 s
 WHERE d.supplier_no = s.lifnr
   AND d.is_current
   AND d.row_hash <> MD5(CONCAT_WS('|', s.name1, s.land1, s.ort01, s.zterm));

INSERT INTO edw.dim_supplier
  (supplier_no, supplier_name, country, city, pay_terms, row_hash, valid_from, valid_to, is_current)
SELECT s.lifnr,
       s.name1,
       s.land1,
       s.ort01,
       s.zterm,
       MD5(CONCAT_WS('|', s.name1, s.land1, s.ort01, s.zterm)),
       CURRENT_TIMESTAMP(),
       '9999-12-31'::TIMESTAMP_NTZ,
       TRUE
  FROM stage.sap_lfa1 s
  LEFT JOIN edw.dim_supplier d
    ON d.supplier_no = s.lifnr AND d.is_current
 WHERE d.supplier_no IS NULL;

COMMIT;
