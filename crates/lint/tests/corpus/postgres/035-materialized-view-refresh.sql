-- form: script
-- expect: none
BEGIN;
REFRESH MATERIALIZED VIEW reporting.mv_team_season;
REFRESH MATERIALIZED VIEW reporting.mv_player_season;
COMMIT;
ANALYZE reporting.mv_team_season;
