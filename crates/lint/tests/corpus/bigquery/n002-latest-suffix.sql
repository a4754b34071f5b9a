-- form: script
-- expect: OM111 warning `SELECT MAX(_TABLE_SUFFIX) FROM…`
CREATE OR REPLACE TABLE ref.geo AS
SELECT geo_id, name, population
FROM `acme.ref.geo_*`
WHERE _TABLE_SUFFIX = (SELECT MAX(_TABLE_SUFFIX) FROM `acme.ref.geo_*`);
