-- form: script
-- expect: none
DROP TABLE IF EXISTS category_tree_new;
CREATE TABLE category_tree_new LIKE category_tree;
INSERT INTO category_tree_new (category_id, parent_id, depth)
SELECT category_id, parent_id, MIN(depth)
FROM category_path
GROUP BY category_id, parent_id;
RENAME TABLE category_tree TO category_tree_old, category_tree_new TO category_tree;
DROP TABLE IF EXISTS category_tree_old;
