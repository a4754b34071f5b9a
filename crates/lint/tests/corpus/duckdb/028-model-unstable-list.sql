-- form: model
-- expect: OM205 error `string_agg(i.sku, ',')`
/* oncemore
kind: slice
interval: day
time: packed_on
key: [parcel_id]
*/
SELECT p.parcel_id, p.packed_on, string_agg(i.sku, ',') AS skus
FROM raw.parcels AS p
JOIN raw.parcel_items AS i ON i.parcel_id = p.parcel_id
WHERE p.packed_on >= :interval_start AND p.packed_on < :interval_end
GROUP BY p.parcel_id, p.packed_on
