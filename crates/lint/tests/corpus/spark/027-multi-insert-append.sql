-- form: script
-- expect: OM301 error `INSERT INTO bronze.sale_reject`
INSERT OVERWRITE TABLE silver.sale_clean PARTITION (ds = '${ds}')
SELECT sale_id, store_id, amount
FROM bronze.sale
WHERE ds = '${ds}' AND amount >= 0 AND store_id IS NOT NULL;

INSERT INTO bronze.sale_reject (sale_id, store_id, amount, ds)
SELECT sale_id, store_id, amount, ds
FROM bronze.sale
WHERE ds = '${ds}' AND (amount < 0 OR store_id IS NULL);
