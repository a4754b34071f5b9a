-- form: script
-- expect: none
\set ON_ERROR_STOP on
BEGIN;
DROP TABLE IF EXISTS dw.call_{{ params.ym }}_build;
CREATE TABLE dw.call_{{ params.ym }}_build (LIKE dw.call INCLUDING DEFAULTS INCLUDING CONSTRAINTS);

INSERT INTO dw.call_{{ params.ym }}_build (call_id, started_on, agent_no, seconds)
SELECT c.call_id, c.started_on, c.agent_no, c.seconds
FROM   pbx.cdr c
WHERE  c.started_on >= :'month_start' AND c.started_on < :'month_end';

ALTER TABLE dw.call DETACH PARTITION dw.call_{{ params.ym }};
DROP TABLE dw.call_{{ params.ym }};
ALTER TABLE dw.call_{{ params.ym }}_build RENAME TO call_{{ params.ym }};
ALTER TABLE dw.call ATTACH PARTITION dw.call_{{ params.ym }} FOR VALUES FROM (:'month_start') TO (:'month_end');
COMMIT;
