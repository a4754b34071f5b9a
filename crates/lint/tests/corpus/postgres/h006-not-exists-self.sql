-- form: script
-- expect: OM304 error `NOT EXISTS ( SELECT 1 FROM dw.dim_supplier d WHERE d.supplier_code = s.supplier_code )`
INSERT INTO dw.dim_supplier (supplier_code, supplier_name, country)
SELECT DISTINCT s.supplier_code, s.supplier_name, s.country
FROM   stg.suppliers s
WHERE  NOT EXISTS (
    SELECT 1
    FROM   dw.dim_supplier d
    WHERE  d.supplier_code = s.supplier_code
);
