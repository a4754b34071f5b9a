-- form: script
-- expect: OM302 error `INSERT IGNORE`
INSERT IGNORE INTO dim_merchant (merchant_code, name, city, mcc)
SELECT merchant_code, MAX(merchant_name), MAX(city), MAX(mcc)
FROM stg_card_transaction
WHERE batch_id = @batch_id
GROUP BY merchant_code;
