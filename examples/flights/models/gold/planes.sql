/* oncemore
kind: full
description: Planes by tail number. Charters and some airlines' fleets are not in it.
key: [tailnum]
audits:
  - not_null: [tailnum, manufacturer, model]
  - range: {column: seats, min: 1, max: 600}
  - row_count: {min: 1}
*/
SELECT tailnum, manufacturer, model, type AS plane_type, year AS year_built, engines, engine AS engine_type, seats
  FROM raw.planes
