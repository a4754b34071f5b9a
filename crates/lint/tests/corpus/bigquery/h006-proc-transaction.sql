-- form: script
-- expect: none
CREATE OR REPLACE PROCEDURE dwh.load_shipments(d DATE)
BEGIN
  BEGIN TRANSACTION;
  DELETE FROM dwh.shipments WHERE ship_date = d;
  INSERT INTO dwh.shipments (shipment_id, ship_date, weight_kg)
  SELECT shipment_id, ship_date, weight_kg FROM raw.shipments WHERE ship_date = d;
  COMMIT TRANSACTION;
END;
