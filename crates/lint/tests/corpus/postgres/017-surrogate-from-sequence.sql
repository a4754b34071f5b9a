-- form: script
-- expect: OM106 warning `nextval('dw.dim_supplier_sk')`
BEGIN;
DELETE FROM dw.dim_supplier WHERE source_system = 'erp2';
INSERT INTO dw.dim_supplier (supplier_sk, supplier_no, source_system, name)
SELECT nextval('dw.dim_supplier_sk'), s.supplier_no, 'erp2', s.name
FROM erp2.supplier s
WHERE s.supplier_no IS NOT NULL;
COMMIT;
