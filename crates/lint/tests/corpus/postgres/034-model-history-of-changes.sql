-- form: model
-- expect: none
/* oncemore
kind: history
interval: day
time: changed_at
key: [contract_id]
*/
SELECT c.contract_id, c.changed_at, c.tariff, c.status, s.region
FROM raw.contract_changes AS c
JOIN raw.supply_points AS s ON s.supply_point_id = c.supply_point_id
WHERE c.changed_at >= :interval_start AND c.changed_at < :interval_end
