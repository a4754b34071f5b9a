-- form: script
-- expect: none
CREATE TABLE IF NOT EXISTS bronze.sensor (sensor_id STRING, read_at TIMESTAMP, val DOUBLE) USING DELTA;

COPY INTO bronze.sensor
FROM 'abfss://landing@acme.dfs.core.windows.net/sensor/'
FILEFORMAT = JSON
FORMAT_OPTIONS ('multiLine' = 'true')
COPY_OPTIONS ('mergeSchema' = 'true');
