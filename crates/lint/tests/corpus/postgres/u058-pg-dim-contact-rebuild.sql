-- form: script
-- expect: none
-- crm.dim_contact is small, we rebuild all of it every night
CREATE TABLE IF NOT EXISTS crm.contact_change (
    change_id   bigint PRIMARY KEY,
    contact_id  bigint NOT NULL,
    changed_at  timestamp NOT NULL,
    full_name   text,
    phone       text,
    owner_name  text
);

BEGIN;
TRUNCATE crm.dim_contact;

INSERT INTO crm.dim_contact (contact_id, full_name, phone, owner_name, changed_at, n_changes)
SELECT c.contact_id, c.full_name, c.phone, c.owner_name, c.changed_at, n.n_changes
  FROM (
        SELECT DISTINCT ON (contact_id)
               contact_id, full_name, phone, owner_name, changed_at
          FROM crm.contact_change
         ORDER BY contact_id, changed_at DESC, change_id DESC
       ) c
  JOIN (
        SELECT contact_id, count(*) AS n_changes
          FROM crm.contact_change
         GROUP BY contact_id
       ) n USING (contact_id);
COMMIT;
