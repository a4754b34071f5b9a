/* oncemore
kind: full
description: Airports by FAA code. Four destinations, all of them in the Caribbean, are not in it.
key: [faa]
audits:
  - not_null: [faa, airport]
  - range: {column: latitude, min: -90, max: 90}
  - range: {column: longitude, min: -180, max: 180}
  - row_count: {min: 1}
*/
SELECT faa, name AS airport, lat AS latitude, lon AS longitude, alt AS altitude_feet, tzone AS time_zone
  FROM raw.airports
