-- form: script
-- expect: none
-- append a landed batch exactly once.
-- ops.batch_claim(batch_id) is the primary key; a second call claims nothing and
-- therefore appends nothing. Corrections come as a new batch.
BEGIN;

WITH claim AS (
    INSERT INTO ops.batch_claim (batch_id, claimed_by)
    VALUES (:'batch_id', 'seismic-loader')
    ON CONFLICT (batch_id) DO NOTHING
    RETURNING batch_id
)
INSERT INTO seismic.pick (batch_id, line_no, station, phase, picked_at, weight)
SELECT b.batch_id,
       b.line_no,
       b.station,
       b.phase,
       b.picked_at,
       b.weight
  FROM seismic.landed_pick AS b
  JOIN claim USING (batch_id)
 WHERE b.is_valid;

COMMIT;
