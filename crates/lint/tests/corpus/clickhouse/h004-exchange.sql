-- form: script
-- expect: none
DROP TABLE IF EXISTS dim.asn_next;
CREATE TABLE dim.asn_next AS dim.asn;
INSERT INTO dim.asn_next (asn, org, country)
SELECT asn, max(org), max(country) FROM raw.asn_feed GROUP BY asn;
EXCHANGE TABLES dim.asn_next AND dim.asn;
DROP TABLE IF EXISTS dim.asn_next;
