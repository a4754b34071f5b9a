-- form: script
-- expect: none
-- rebuild one month of player stats beside the live table, then swap the partition (atomic)
CREATE TABLE IF NOT EXISTS game.player_stats_new AS game.player_stats;

TRUNCATE TABLE game.player_stats_new;

INSERT INTO game.player_stats_new (month, player_id, matches, wins, last_hero, p95_ping)
SELECT
    month,
    player_id,
    count(),
    countIf(won),
    argMax(hero, (ended_at, match_id)) AS last_hero,
    quantileExact(0.95)(ping_ms)
FROM game.match_player
WHERE month = {month:Date}
GROUP BY month, player_id
SETTINGS max_threads = 8;

ALTER TABLE game.player_stats REPLACE PARTITION {month:Date} FROM game.player_stats_new;

TRUNCATE TABLE game.player_stats_new;
