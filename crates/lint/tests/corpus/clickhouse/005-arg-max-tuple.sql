-- form: script
-- expect: none
CREATE OR REPLACE TABLE crm.account_owner
ENGINE = MergeTree ORDER BY account_id
AS
SELECT account_id, argMax(owner, (changed_at, change_id)) AS owner, uniqExact(owner) AS owners
FROM crm.owner_change
GROUP BY account_id;
