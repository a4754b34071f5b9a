-- form: script
-- expect: OM209 error `ref.zip_region AS z`
-- because: zip_region is unique per (zip, carrier), not per zip, so which carrier's region and zone a parcel gets is arbitrary at each run.
CREATE TABLE IF NOT EXISTS ref.zip_region (
  zip      VARCHAR(10) NOT NULL,
  carrier  VARCHAR(20) NOT NULL,
  region   VARCHAR(40) NOT NULL,
  zone     SMALLINT,
  PRIMARY KEY (zip, carrier)
)
DISTSTYLE ALL;

BEGIN;

UPDATE sales.parcel
SET region = z.region,
    zone   = z.zone
FROM ref.zip_region AS z
WHERE z.zip = parcel.ship_zip
  AND parcel.ship_date >= '{{ params.start }}'
  AND parcel.ship_date <  '{{ params.end }}';

UPDATE sales.parcel
SET is_remote = CASE WHEN zone >= 7 THEN TRUE ELSE FALSE END
WHERE ship_date >= '{{ params.start }}'
  AND ship_date <  '{{ params.end }}';

COMMIT;
