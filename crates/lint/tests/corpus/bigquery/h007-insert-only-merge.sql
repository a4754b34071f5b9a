-- form: script
-- expect: OM306 error `MERGE dim.device`
MERGE dim.device D
USING (
  SELECT device_id, MAX(model) AS model, MAX(os) AS os
  FROM raw.device_ping
  GROUP BY device_id
) S
ON D.device_id = S.device_id
WHEN NOT MATCHED THEN
  INSERT (device_id, model, os) VALUES (device_id, model, os);
