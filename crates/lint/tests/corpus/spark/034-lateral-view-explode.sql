-- form: script
-- expect: none
INSERT OVERWRITE TABLE dws.movie_genre PARTITION (dt = '${dt}')
SELECT m.movie_id, g.genre, round(avg(r.stars), 2) AS stars, count(*) AS ratings
FROM dwd.movie m
LATERAL VIEW explode(split(m.genres, ',')) g AS genre
JOIN dwd.rating r ON r.movie_id = m.movie_id AND r.dt = '${dt}'
WHERE m.dt = '${dt}'
GROUP BY m.movie_id, g.genre;
