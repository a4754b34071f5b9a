-- form: script
-- expect: none
MERGE INTO mart.u t USING (SELECT user_id, max(seen_on) AS seen_on FROM raw.seen WHERE user_id IS NOT NULL GROUP BY user_id) s
ON t.user_id = s.user_id
WHEN MATCHED THEN UPDATE SET seen_on = s.seen_on, upserted_at = current_timestamp()
WHEN NOT MATCHED THEN INSERT (user_id, seen_on, upserted_at) VALUES (s.user_id, s.seen_on, current_timestamp());
