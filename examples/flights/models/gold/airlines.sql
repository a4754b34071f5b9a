/* oncemore
kind: full
description: Airlines by their two-character code.
key: [carrier]
audits:
  - not_null: [carrier, airline]
  - row_count: {min: 1}
*/
SELECT carrier, name AS airline
  FROM raw.airlines
