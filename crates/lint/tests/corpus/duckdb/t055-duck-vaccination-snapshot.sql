-- form: script
-- expect: OM202 error `row_number() OVER (PARTITION BY patient_id, vaccine)`
-- expect: OM102 error `current_date`
-- because: no order: any lot of the patient is kept the clock is part of the key: a repair run next day writes new rows beside the old ones
-- vaccination status per patient, daily snapshot
ATTACH 'registry.duckdb' AS reg;

CREATE TABLE IF NOT EXISTS reg.vacc_status (
    snapshot_key VARCHAR PRIMARY KEY,
    patient_id   BIGINT  NOT NULL,
    vaccine      VARCHAR NOT NULL,
    lot_no       VARCHAR,
    doses        INTEGER
);

INSERT OR REPLACE INTO reg.vacc_status (snapshot_key, patient_id, vaccine, lot_no, doses)
WITH d AS (
    SELECT patient_id,
           vaccine,
           lot_no,
           row_number() OVER (PARTITION BY patient_id, vaccine) AS rn,
           count(*)     OVER (PARTITION BY patient_id, vaccine) AS doses
    FROM reg.shot
    WHERE NOT voided
)
SELECT md5(concat_ws('/', current_date, patient_id, vaccine)),
       patient_id,
       vaccine,
       lot_no,
       doses
FROM d
WHERE rn = 1;
