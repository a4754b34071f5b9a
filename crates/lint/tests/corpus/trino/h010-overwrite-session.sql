-- form: script
-- expect: none
SET SESSION hive.insert_existing_partitions_behavior = 'OVERWRITE';

INSERT INTO hive.mart.search_terms
SELECT lower(trim(term)) AS term, count(*) AS searches, ds
FROM hive.raw.search
WHERE ds = '{{ ds }}'
GROUP BY lower(trim(term)), ds;
