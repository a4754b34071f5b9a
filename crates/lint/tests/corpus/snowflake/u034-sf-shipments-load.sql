-- form: script
-- expect: OM313 error `COPY INTO raw.shipment_events`
-- expect: OM201 warning `ROW_NUMBER() OVER (PARTITION BY shipment_id ORDER BY event_ts DESC)`
-- because: FORCE loads files again which are already in the table, a retry doubles the events. two scans of a parcel may bear the same event_ts, the winner is arbitrary.
-- load_shipments.sql
-- Carrier drops one gz csv per hour to @raw.carrier_stage/shipments/
USE WAREHOUSE load_wh;

COPY INTO raw.shipment_events (shipment_id, event_code, event_ts, depot, file_name)
FROM (
    SELECT $1::NUMBER, $2::VARCHAR, $3::TIMESTAMP_NTZ, $4::VARCHAR, metadata$filename
    FROM @raw.carrier_stage/shipments/{{ ds_nodash }}/
)
FILE_FORMAT = (FORMAT_NAME = raw.csv_gz)
ON_ERROR = 'ABORT_STATEMENT'
FORCE = TRUE;      -- carrier resends files under the same name, so we need this

MERGE INTO core.shipment_status t
USING (
    SELECT shipment_id, event_code, event_ts, depot
    FROM raw.shipment_events_strm          -- append_only stream on raw.shipment_events
    WHERE metadata$action = 'INSERT'
      AND shipment_id IS NOT NULL
    QUALIFY ROW_NUMBER() OVER (PARTITION BY shipment_id ORDER BY event_ts DESC) = 1
) s
ON t.shipment_id = s.shipment_id
WHEN MATCHED THEN UPDATE SET
    t.last_event = s.event_code, t.last_event_ts = s.event_ts, t.depot = s.depot
WHEN NOT MATCHED THEN INSERT (shipment_id, last_event, last_event_ts, depot)
    VALUES (s.shipment_id, s.event_code, s.event_ts, s.depot);
