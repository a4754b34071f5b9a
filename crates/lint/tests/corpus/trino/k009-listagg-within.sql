-- form: script
-- expect: none
DROP TABLE IF EXISTS hive.mart.recipe_text;
CREATE TABLE hive.mart.recipe_text AS
SELECT r.recipe_id,
       listagg(i.name, ', ') WITHIN GROUP (ORDER BY i.name, i.ingredient_id) AS ingredients,
       array_sort(array_agg(DISTINCT i.allergen)) AS allergens,
       cardinality(array_agg(i.ingredient_id)) AS n
FROM hive.raw.recipe r
JOIN hive.raw.ingredient i ON i.recipe_id = r.recipe_id
GROUP BY r.recipe_id
