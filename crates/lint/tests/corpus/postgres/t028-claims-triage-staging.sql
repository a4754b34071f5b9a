-- form: script
-- expect: OM318 warning `INSERT INTO claims_stg.triage_in`
-- because: fixed-name staging is never emptied; rows of an earlier or failed run are published again
-- triage scores -> queue, one call per intake day ($1 = intake day)
CREATE UNLOGGED TABLE IF NOT EXISTS claims_stg.triage_in (
    claim_no   text    NOT NULL,
    intake_day date    NOT NULL,
    score      numeric(5,2) NOT NULL,
    lane       text    NOT NULL
);

INSERT INTO claims_stg.triage_in (claim_no, intake_day, score, lane)
SELECT c.claim_no, c.intake_day, c.score,
       CASE WHEN c.score >= 80 THEN 'fast' WHEN c.score >= 40 THEN 'desk' ELSE 'fraud' END
FROM   claims.scored c
WHERE  c.intake_day = $1;

BEGIN;
DELETE FROM claims.lane_count WHERE intake_day = $1;

INSERT INTO claims.lane_count (intake_day, lane, n, avg_score)
SELECT intake_day, lane, count(*), avg(score)
FROM   claims_stg.triage_in
WHERE  intake_day = $1
GROUP  BY intake_day, lane;
COMMIT;
