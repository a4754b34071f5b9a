-- form: script
-- expect: OM110 warning `url('https://data.example.org/codes.csv', 'CSVWithNames')`
CREATE OR REPLACE TABLE ref.postcode ENGINE = MergeTree ORDER BY code AS
SELECT code, place, lat, lon
FROM url('https://data.example.org/codes.csv', 'CSVWithNames');
