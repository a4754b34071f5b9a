-- form: script
-- expect: OM309 error `games = t.games + EXCLUDED.games`
-- expect: OM309 error `wins = t.wins + EXCLUDED.wins`
-- because: a retry of the same window adds the games again
-- leaderboard roll-up, called by the worker per finished hour
CREATE OR REPLACE PROCEDURE arena.roll_up_hour(p_from timestamptz, p_to timestamptz)
LANGUAGE plpgsql
AS $body$
BEGIN
WITH m AS (
    SELECT gp.player_id,
           count(*)                                   AS games,
           count(*) FILTER (WHERE gp.outcome = 'win') AS wins,
           max(gp.rating_after)                       AS peak
    FROM   arena.game_player gp
    JOIN   arena.game g USING (game_id)
    WHERE  g.finished_at >= p_from
      AND  g.finished_at <  p_to
      AND  g.rated
    GROUP  BY gp.player_id
)
INSERT INTO arena.player_total AS t (player_id, games, wins, peak)
SELECT player_id, games, wins, peak FROM m
ON CONFLICT (player_id) DO UPDATE
   SET games = t.games + EXCLUDED.games,
       wins  = t.wins  + EXCLUDED.wins,
       peak  = greatest(t.peak, EXCLUDED.peak);
END
$body$;
