-- form: script
-- expect: OM310 error `DELETE FROM iceberg.silver.meter_reading`
-- expect: OM404 error `read_on >= DATE '${start}'`
-- because: A backfill of one old day deletes every day after it and puts only that day back. Two separate Iceberg commits without a transaction: a crash between them leaves the deleted rows missing for every reader.
-- ${start} / ${end}: one day, half open
DELETE FROM iceberg.silver.meter_reading
WHERE read_on >= DATE '${start}';

INSERT INTO iceberg.silver.meter_reading
  (meter_id, read_on, slot, kwh, quality)
SELECT
  meter_id,
  read_on,
  slot,
  max(kwh)     AS kwh,
  min(quality) AS quality
FROM iceberg.bronze.meter_reading
WHERE read_on >= DATE '${start}'
  AND read_on <  DATE '${end}'
GROUP BY meter_id, read_on, slot;
