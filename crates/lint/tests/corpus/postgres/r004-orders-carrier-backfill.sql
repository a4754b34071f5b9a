-- form: script
-- expect: OM209 error `wms.shipment AS s`
-- because: an order with two parcels gets whichever shipment the join meets first, so a second run over the same rows may store another carrier
-- nightly: copy the carrier of the shipment onto the order header.
-- an order may leave the warehouse in several parcels
CREATE TABLE IF NOT EXISTS wms.shipment (
    shipment_id   bigint PRIMARY KEY,
    order_id      bigint NOT NULL,
    carrier_code  text   NOT NULL,
    tracking_no   text,
    voided        boolean NOT NULL
);
CREATE TABLE IF NOT EXISTS ref.carrier (
    carrier_code  text PRIMARY KEY,
    display_name  text NOT NULL
);

BEGIN;

UPDATE sales.order_header AS o
   SET carrier_code = s.carrier_code,
       tracking_no  = s.tracking_no
  FROM wms.shipment AS s
 WHERE s.order_id = o.order_id
   AND NOT s.voided;

UPDATE sales.order_header AS o
   SET carrier_name = c.display_name
  FROM ref.carrier AS c
 WHERE c.carrier_code = o.carrier_code;

COMMIT;
