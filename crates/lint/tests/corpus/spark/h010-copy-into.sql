-- form: script
-- expect: none
COPY INTO bronze.orders
FROM 'abfss://landing@acme.dfs.core.windows.net/orders/'
FILEFORMAT = CSV
FORMAT_OPTIONS ('header' = 'true', 'inferSchema' = 'true')
COPY_OPTIONS ('mergeSchema' = 'true');
