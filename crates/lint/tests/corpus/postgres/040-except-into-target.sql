-- form: script
-- expect: OM304 error `EXCEPT SELECT sighting_id, species_code, region FROM atlas.sighting`
INSERT INTO atlas.sighting (sighting_id, species_code, region)
SELECT sighting_id, species_code, region FROM raw.sighting WHERE seen_on = :day
EXCEPT
SELECT sighting_id, species_code, region FROM atlas.sighting;
