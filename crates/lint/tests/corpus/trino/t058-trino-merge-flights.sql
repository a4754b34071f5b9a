-- form: script
-- expect: none
-- delay minutes per flight leg; the leg day is part of the key
-- (don't sample with rand() here again, see OPS-77)
MERGE INTO iceberg.ops.leg_delay AS t
USING (
    SELECT m.leg_day,
           m.flight_no,
           m.origin,
           max(m.delay_min)                              AS delay_min,
           array_join(array_sort(array_agg(DISTINCT m.reason)), ',') AS reasons,
           max_by(m.stand, ROW(m.msg_ts, m.msg_id, m.stand)) AS stand
    FROM   iceberg.raw.movement_msg m
    WHERE  m.leg_day = DATE '{{ ds }}'
      AND  m.flight_no IS NOT NULL
      AND  m.origin IS NOT NULL
      AND  NOT EXISTS (SELECT 1 FROM iceberg.raw.cancelled_leg c
                       WHERE c.leg_day = m.leg_day AND c.flight_no = m.flight_no)
    GROUP  BY m.leg_day, m.flight_no, m.origin
) AS s
ON (t.leg_day = s.leg_day AND t.flight_no = s.flight_no AND t.origin = s.origin)
WHEN MATCHED THEN
    UPDATE SET delay_min = s.delay_min, reasons = s.reasons, stand = s.stand
WHEN NOT MATCHED THEN
    INSERT (leg_day, flight_no, origin, delay_min, reasons, stand)
    VALUES (s.leg_day, s.flight_no, s.origin, s.delay_min, s.reasons, s.stand);
