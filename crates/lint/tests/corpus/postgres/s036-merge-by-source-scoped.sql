-- form: script
-- expect: none
MERGE INTO mart.seat_day AS t
USING (SELECT seat_id, day, count(*) AS n FROM raw.booking WHERE day = :day AND seat_id IS NOT NULL GROUP BY seat_id, day) AS s
ON t.seat_id = s.seat_id AND t.day = s.day
WHEN MATCHED THEN UPDATE SET n = s.n
WHEN NOT MATCHED THEN INSERT (seat_id, day, n) VALUES (s.seat_id, s.day, s.n)
WHEN NOT MATCHED BY SOURCE AND t.day = :day THEN DELETE;
