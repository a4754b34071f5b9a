-- form: script
-- expect: none
-- Full rebuild, INSERT OVERWRITE is one atomic statement. Task: T_DIM_RECIPE (after T_STG_*)
INSERT OVERWRITE INTO mart.dim_recipe
    (recipe_id, title, main_ingredient, ingredients, rating_rank, last_tag)
WITH ing AS (
    SELECT recipe_id,
           LISTAGG(DISTINCT ingredient_name, ', ') WITHIN GROUP (ORDER BY ingredient_name) AS ingredients,
           MIN(CASE WHEN is_main THEN ingredient_name END) AS main_ingredient
    FROM stg.recipe_ingredient
    GROUP BY recipe_id
),
tags AS (
    SELECT recipe_id, tag_name
    FROM stg.recipe_tag
    QUALIFY ROW_NUMBER() OVER (PARTITION BY recipe_id ORDER BY tagged_at DESC, tag_name) = 1
)
SELECT  r.recipe_id
      , r.title
      , ing.main_ingredient
      , ing.ingredients
      , DENSE_RANK() OVER (ORDER BY r.rating_avg DESC NULLS LAST) AS rating_rank
      , tags.tag_name AS last_tag
FROM stg.recipe r
LEFT JOIN ing  ON ing.recipe_id  = r.recipe_id
LEFT JOIN tags ON tags.recipe_id = r.recipe_id;
