-- form: script
-- expect: OM108 warning `SET search_path = registry, public`
-- expect: OM314 error `CREATE TABLE IF NOT EXISTS mailing_address`
-- expect: OM203 warning `DISTINCT ON (a.resident_id)`
-- because: on the second run the table exists and nothing happens: the register stays at its first state registered_on is a day; two addresses registered on one day tie and either is taken unqualified names resolved by search_path
-- one mailing address per resident for the election register
SET search_path = registry, public;

CREATE TABLE IF NOT EXISTS mailing_address AS
SELECT DISTINCT ON (a.resident_id)
       a.resident_id,
       a.street,
       a.house_no,
       a.zip,
       a.city
FROM   address a
JOIN   resident r ON r.resident_id = a.resident_id
WHERE  r.deceased_on IS NULL
  AND  a.kind IN ('main', 'postal')
ORDER  BY a.resident_id, a.registered_on DESC;

GRANT SELECT ON mailing_address TO election_ro;
