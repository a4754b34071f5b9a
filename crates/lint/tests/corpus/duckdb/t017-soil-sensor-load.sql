-- form: script
-- expect: OM302 error `INSERT OR IGNORE`
-- expect: OM110 warning `read_parquet('s3://agri-drop/probes/*.parquet')`
-- because: re-exported calibrated readings never replace the stored ones the glob reads whatever files lie there at run time
-- make load   (duckdb farm.db < soil_sensor_load.sql)
INSTALL httpfs; LOAD httpfs;
SET s3_region = 'eu-central-1';
SET memory_limit = '6GB';

CREATE TABLE IF NOT EXISTS soil_reading (
    probe_id   VARCHAR   NOT NULL,
    measured_at TIMESTAMP NOT NULL,
    depth_cm   INTEGER   NOT NULL,
    moisture   DECIMAL(6,3),
    temp_c     DECIMAL(5,2),
    PRIMARY KEY (probe_id, measured_at, depth_cm)
);

-- vendor re-exports files after calibration
INSERT OR IGNORE INTO soil_reading (probe_id, measured_at, depth_cm, moisture, temp_c)
SELECT probe_id, measured_at, depth_cm, moisture, temp_c
FROM read_parquet('s3://agri-drop/probes/*.parquet')
WHERE probe_id IS NOT NULL;
