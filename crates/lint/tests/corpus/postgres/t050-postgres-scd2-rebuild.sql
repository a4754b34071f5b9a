-- form: script
-- expect: none
-- vehicle history: rebuild all versions of the vehicles touched in the interval
-- (from_ts / to_ts are ISO timestamps with offset)
-- versions come from the change log alone, so the order of runs does not matter
CREATE TABLE IF NOT EXISTS fleet.vehicle_change (
    change_id  bigint PRIMARY KEY,
    vehicle_id bigint      NOT NULL,
    changed_at timestamptz NOT NULL,
    depot      text,
    plate      text
);

BEGIN;
CREATE TEMP TABLE touched ON COMMIT DROP AS
SELECT DISTINCT vehicle_id
  FROM fleet.vehicle_change
 WHERE changed_at >= :'from_ts' AND changed_at < :'to_ts';

DELETE FROM fleet.vehicle_hist h
 USING touched t
 WHERE h.vehicle_id = t.vehicle_id;

INSERT INTO fleet.vehicle_hist (vehicle_id, change_id, depot, plate, valid_from, valid_to)
SELECT c.vehicle_id,
       c.change_id,
       c.depot,
       c.plate,
       c.changed_at,
       lead(c.changed_at) OVER (PARTITION BY c.vehicle_id
                                ORDER BY c.changed_at, c.change_id)
  FROM fleet.vehicle_change c
  JOIN touched t ON t.vehicle_id = c.vehicle_id;

COMMIT;
