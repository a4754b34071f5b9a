-- form: script
-- expect: none
CREATE OR REPLACE TABLE iceberg.mart.allergen AS
SELECT dish_id,
       array_join(array_sort(array_agg(DISTINCT allergen)), ',') AS allergens,
       cardinality(array_agg(DISTINCT kitchen)) AS kitchens
FROM iceberg.raw.dish_allergen
GROUP BY dish_id;
