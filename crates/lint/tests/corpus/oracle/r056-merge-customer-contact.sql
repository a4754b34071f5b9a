-- form: script
-- expect: OM319 warning `WHEN MATCHED THEN UPDATE`
-- because: re-running the March interval in June puts the March address over the June one
MERGE INTO crm_dm.customer_contact tgt
USING (
    SELECT cust_id, email, phone, street, postcode, changed_at
    FROM  (
        SELECT x.*,
               ROW_NUMBER() OVER (PARTITION BY x.cust_id
                                  ORDER BY x.changed_at DESC, x.change_id DESC) rn  -- change_id: primary key
        FROM   crm_stg.contact_change x
        WHERE  x.changed_at >= :p_from
        AND    x.changed_at <  :p_to
        AND    x.cust_id IS NOT NULL )
    WHERE rn = 1
) src
ON (tgt.cust_id = src.cust_id)
WHEN MATCHED THEN UPDATE SET
    tgt.email      = src.email,
    tgt.phone      = src.phone,
    tgt.street     = src.street,
    tgt.postcode   = src.postcode,
    tgt.changed_at = src.changed_at
WHEN NOT MATCHED THEN INSERT
    (cust_id, email, phone, street, postcode, changed_at)
    VALUES (src.cust_id, src.email, src.phone, src.street, src.postcode, src.changed_at);

COMMIT;
