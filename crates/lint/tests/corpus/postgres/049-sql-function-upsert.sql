-- form: script
-- expect: none
CREATE OR REPLACE FUNCTION game.store_scores(p_round int)
RETURNS void
LANGUAGE sql
AS $fn$
  INSERT INTO game.round_score (round_no, team_id, points)
  SELECT p_round, e.team_id, sum(e.points)
  FROM game.score_event e
  WHERE e.round_no = p_round
  GROUP BY e.team_id
  ON CONFLICT (round_no, team_id) DO UPDATE SET points = EXCLUDED.points;
$fn$;
