-- form: script
-- expect: OM307 warning `USING ( SELECT c.session_id, c.visitor_id, c.utm_source, c.landing_path, c.event …`
-- because: a session with two clicks in the window has two source rows for one target row: the merge fails or, before the first match, inserts the session twice
MERGE INTO gold.web_session AS t
USING (
    SELECT
        c.session_id,
        c.visitor_id,
        c.utm_source,
        c.landing_path,
        c.event_ts
    FROM bronze.click AS c
    WHERE c.event_ts >= '${start_ts}'
      AND c.event_ts <  '${end_ts}'
      AND c.session_id IS NOT NULL
) AS s
ON t.session_id = s.session_id
WHEN MATCHED AND s.event_ts >= t.last_event_ts THEN UPDATE SET
    t.visitor_id    = s.visitor_id,
    t.utm_source    = s.utm_source,
    t.landing_path  = s.landing_path,
    t.last_event_ts = s.event_ts
WHEN NOT MATCHED THEN INSERT (session_id, visitor_id, utm_source, landing_path, last_event_ts)
VALUES (s.session_id, s.visitor_id, s.utm_source, s.landing_path, s.event_ts);
