-- form: script
-- expect: OM408 warning `usage_date >= '2024-05-01' AND usage_date < '2024-06-01'`
BEGIN TRANSACTION;
DELETE FROM finops.gcp_cost WHERE usage_date >= '2024-05-01' AND usage_date < '2024-06-01';
INSERT INTO finops.gcp_cost (usage_date, project, cost)
SELECT usage_date, project, SUM(cost)
FROM billing.export
WHERE usage_date >= '2024-05-01' AND usage_date < '2024-06-01'
GROUP BY usage_date, project;
COMMIT TRANSACTION;
