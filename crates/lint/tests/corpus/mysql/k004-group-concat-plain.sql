-- form: script
-- expect: OM205 error `GROUP_CONCAT(g.name SEPARATOR '/')`
REPLACE INTO film_search (film_id, title, genres)
SELECT f.film_id, f.title, GROUP_CONCAT(g.name SEPARATOR '/')
FROM film f
LEFT JOIN film_genre fg ON fg.film_id = f.film_id
LEFT JOIN genre g ON g.genre_id = fg.genre_id
GROUP BY f.film_id, f.title;
