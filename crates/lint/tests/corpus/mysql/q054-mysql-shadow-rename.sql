-- form: script
-- expect: none
-- because: The insert fills a table created empty in the run and swapped in by one atomic RENAME; both anti-joins are against other sources; every DDL is guarded; no clock is read.
-- mailable contacts, rebuilt every night and swapped in
DROP TABLE IF EXISTS crm.mailable_old;
DROP TABLE IF EXISTS crm.mailable_new;

CREATE TABLE crm.mailable_new LIKE crm.mailable;

INSERT INTO crm.mailable_new (contact_id, email, locale, first_order_on)
SELECT c.contact_id,
       LOWER(c.email),
       c.locale,
       (SELECT MIN(o.order_day) FROM shop.orders AS o WHERE o.contact_id = c.contact_id)
  FROM crm.contact AS c
  LEFT JOIN crm.opt_out AS x
    ON x.email = c.email
 WHERE x.email IS NULL
   AND c.is_deleted = 0
   AND c.contact_id NOT IN (SELECT b.contact_id
                              FROM crm.bounce AS b
                             WHERE b.hard = 1
                               AND b.contact_id IS NOT NULL);

RENAME TABLE crm.mailable     TO crm.mailable_old,
             crm.mailable_new TO crm.mailable;

DROP TABLE IF EXISTS crm.mailable_old;
