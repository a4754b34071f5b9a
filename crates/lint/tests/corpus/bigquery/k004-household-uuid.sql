-- form: script
-- expect: OM105 error `GENERATE_UUID()`
CREATE OR REPLACE TABLE `acme.crm.household`
CLUSTER BY address_hash AS
SELECT
  GENERATE_UUID() AS household_id,
  address_hash,
  COUNT(DISTINCT person_id) AS persons
FROM `acme.crm.person_address`
GROUP BY address_hash;
