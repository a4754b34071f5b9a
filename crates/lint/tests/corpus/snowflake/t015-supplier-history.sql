-- form: script
-- expect: OM316 error `CURRENT_TIMESTAMP()`
-- because: compares with any version, so once a supplier has two versions every run adds another one, stamped with the clock
-- SCD2 supplier. step 1 of 1: append new versions  (flag_current is done by the view)
CREATE OR REPLACE PROCEDURE DIM.SP_SUPPLIER_APPEND()
RETURNS VARCHAR
LANGUAGE SQL
EXECUTE AS OWNER
AS
$$
BEGIN
INSERT INTO DIM.SUPPLIER_HIST
    (SUPPLIER_ID, LEGAL_NAME, COUNTRY, PAYMENT_TERMS, ROW_HASH, VALID_FROM)
SELECT DISTINCT
    S.SUPPLIER_ID,
    S.LEGAL_NAME,
    S.COUNTRY,
    S.PAYMENT_TERMS,
    MD5(CONCAT_WS('|', S.LEGAL_NAME, S.COUNTRY, S.PAYMENT_TERMS)) AS ROW_HASH,
    CURRENT_TIMESTAMP()                                           AS VALID_FROM
FROM STG.SUPPLIER S
JOIN DIM.SUPPLIER_HIST H
  ON H.SUPPLIER_ID = S.SUPPLIER_ID
WHERE H.ROW_HASH <> MD5(CONCAT_WS('|', S.LEGAL_NAME, S.COUNTRY, S.PAYMENT_TERMS))
;
RETURN 'versions added: ' || SQLROWCOUNT;
END;
$$;
