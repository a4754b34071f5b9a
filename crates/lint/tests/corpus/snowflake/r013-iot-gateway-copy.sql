-- form: script
-- expect: OM313 error `COPY INTO RAW.IOT.GATEWAY_MESSAGE`
-- because: a second run of the task loads every file under the prefix again because FORCE ignores the load history
USE WAREHOUSE LOAD_XS;
ALTER SESSION SET QUERY_TAG = 'iot_gateway_copy';

CREATE TABLE IF NOT EXISTS RAW.IOT.GATEWAY_MESSAGE (
    PAYLOAD      VARIANT,
    SRC_FILE     VARCHAR,
    SRC_ROW      NUMBER,
    SITE         VARCHAR
);

COPY INTO RAW.IOT.GATEWAY_MESSAGE (PAYLOAD, SRC_FILE, SRC_ROW, SITE)
FROM (
    SELECT $1,
           METADATA$FILENAME,
           METADATA$FILE_ROW_NUMBER,
           SPLIT_PART(METADATA$FILENAME, '/', 3)
    FROM @RAW.IOT.LAKE_STAGE/gateway/{{ params.site }}/{{ ds }}/
)
FILE_FORMAT = (TYPE = JSON STRIP_OUTER_ARRAY = TRUE)
PATTERN     = '.*[.]json[.]gz'
ON_ERROR    = CONTINUE
FORCE       = TRUE;
