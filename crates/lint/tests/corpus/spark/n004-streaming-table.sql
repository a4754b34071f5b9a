-- form: script
-- expect: none
CREATE OR REFRESH STREAMING TABLE bronze_orders
COMMENT 'raw orders'
AS SELECT *, _metadata.file_path AS source_file
FROM STREAM read_files('/Volumes/main/raw/orders', format => 'json');
