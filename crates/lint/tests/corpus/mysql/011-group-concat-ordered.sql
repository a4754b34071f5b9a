-- form: script
-- expect: none
REPLACE INTO film_cast_text (film_id, title, cast_text)
SELECT f.film_id, f.title,
       GROUP_CONCAT(DISTINCT CONCAT(a.last_name, ' ', a.first_name) ORDER BY CONCAT(a.last_name, ' ', a.first_name) SEPARATOR '; ')
FROM film f
JOIN film_actor fa ON fa.film_id = f.film_id
JOIN actor a ON a.actor_id = fa.actor_id
GROUP BY f.film_id, f.title;
