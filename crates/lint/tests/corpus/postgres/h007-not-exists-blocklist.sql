-- form: script
-- expect: none
BEGIN;
DELETE FROM dw.mailing WHERE campaign_id = %(campaign_id)s;
INSERT INTO dw.mailing (campaign_id, contact_id, email)
SELECT %(campaign_id)s, c.contact_id, c.email
FROM   crm.contact c
WHERE  c.opted_in
  AND  NOT EXISTS (SELECT 1 FROM crm.do_not_mail b WHERE b.email = c.email);
COMMIT;
