-- form: script
-- expect: none
DROP TABLE IF EXISTS search_index_new, search_index_old;
CREATE TABLE search_index_new LIKE search_index;
INSERT INTO search_index_new (item_id, term, weight)
SELECT item_id, LOWER(term), SUM(weight)
FROM item_term
GROUP BY item_id, LOWER(term);
RENAME TABLE search_index TO search_index_old, search_index_new TO search_index;
DROP TABLE search_index_old;
