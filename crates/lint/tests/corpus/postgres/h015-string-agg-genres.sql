-- form: script
-- expect: OM205 error `string_agg(DISTINCT g.name, ', ')`
CREATE TABLE IF NOT EXISTS film_search (film_id int PRIMARY KEY, title text, genres text);
INSERT INTO film_search (film_id, title, genres)
SELECT f.film_id, max(f.title), string_agg(DISTINCT g.name, ', ')
FROM film f
JOIN film_genre fg ON fg.film_id = f.film_id
JOIN genre g ON g.genre_id = fg.genre_id
GROUP BY f.film_id
ON CONFLICT (film_id) DO UPDATE SET title = EXCLUDED.title, genres = EXCLUDED.genres;
