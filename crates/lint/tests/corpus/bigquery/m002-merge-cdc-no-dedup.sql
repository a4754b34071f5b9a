-- form: script
-- expect: OM307 warning `USING…`
MERGE `crm.contact` AS t
USING `crm_raw.contact_cdc` AS s
ON t.contact_id = s.contact_id
WHEN MATCHED AND s.op = 'd' THEN DELETE
WHEN MATCHED THEN UPDATE SET email = s.email, phone = s.phone
WHEN NOT MATCHED AND s.op != 'd' THEN INSERT (contact_id, email, phone) VALUES (s.contact_id, s.email, s.phone);
