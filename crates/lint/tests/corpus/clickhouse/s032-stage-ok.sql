-- form: script
-- expect: none
CREATE TABLE IF NOT EXISTS crm.t_stage AS crm.t;
TRUNCATE TABLE crm.t_stage;
INSERT INTO crm.t_stage (d, u, n) SELECT d, u, count() FROM crm.raw WHERE d = toDate('${ds}') GROUP BY d, u;
ALTER TABLE crm.t REPLACE PARTITION '${ds}' FROM crm.t_stage;
