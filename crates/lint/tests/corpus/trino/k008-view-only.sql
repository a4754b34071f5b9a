-- form: script
-- expect: none
CREATE OR REPLACE VIEW hive.rpt.open_incident AS
SELECT i.incident_id,
       i.severity,
       i.opened_at,
       max(CASE WHEN u.k = 'team' THEN u.v END) AS team
FROM hive.raw.incident i
LEFT JOIN hive.raw.incident_label u ON u.incident_id = i.incident_id
WHERE i.closed_at IS NULL
GROUP BY 1, 2, 3
