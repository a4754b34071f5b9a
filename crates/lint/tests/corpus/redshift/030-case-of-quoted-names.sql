-- form: script
-- expect: OM301 error `INSERT INTO "mart"."Fulfilment_Day"`
BEGIN;
DELETE FROM mart.fulfilment_hour WHERE day = '{{ ds }}';
INSERT INTO "mart"."Fulfilment_Day" ("day", "warehouse", "parcels")
SELECT "day", "warehouse", COUNT(*)
FROM "ods"."parcel"
WHERE "day" = '{{ ds }}'
GROUP BY 1, 2;
COMMIT;
