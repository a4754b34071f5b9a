-- form: script
-- expect: none
LOAD DATA OVERWRITE stage.inventory_file
FROM FILES (
  format = 'CSV',
  skip_leading_rows = 1,
  uris = ['gs://acme-drop/inventory/*.csv']
);
