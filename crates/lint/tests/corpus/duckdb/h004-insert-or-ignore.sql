-- form: script
-- expect: OM302 error `INSERT OR IGNORE`
CREATE TABLE IF NOT EXISTS players (player_id INTEGER PRIMARY KEY, name VARCHAR, team VARCHAR);
INSERT OR IGNORE INTO players
SELECT player_id, name, team FROM scraped_players;
