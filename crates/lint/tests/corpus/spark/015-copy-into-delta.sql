-- form: script
-- expect: none
COPY INTO bronze.invoice
FROM '/mnt/lake/invoice'
FILEFORMAT = JSON
FORMAT_OPTIONS ('mergeSchema' = 'true')
COPY_OPTIONS ('mergeSchema' = 'true');
