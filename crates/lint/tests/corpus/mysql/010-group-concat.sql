-- form: script
-- expect: OM205 error `GROUP_CONCAT(c.name SEPARATOR ', ')`
REPLACE INTO recipe_search (recipe_id, title, categories)
SELECT r.recipe_id, r.title, GROUP_CONCAT(c.name SEPARATOR ', ')
FROM recipe r
JOIN recipe_category rc ON rc.recipe_id = r.recipe_id
JOIN category c ON c.category_id = rc.category_id
GROUP BY r.recipe_id, r.title;
