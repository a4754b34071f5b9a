-- form: script
-- expect: OM209 warning `carrier_event e`
UPDATE orders o
JOIN carrier_event e ON e.tracking_no = o.tracking_no
SET o.delivery_state = e.state
WHERE o.delivery_state <> 'done';
