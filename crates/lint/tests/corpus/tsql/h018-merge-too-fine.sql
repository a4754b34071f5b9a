-- form: script
-- expect: OM307 error `USING (…`
MERGE dwh.DimAgent AS t
USING (
	SELECT AgentNo, Office, COUNT(*) AS Policies
	FROM stg.PolicySale
	GROUP BY AgentNo, Office
) AS s
	ON t.AgentNo = s.AgentNo
WHEN MATCHED THEN UPDATE SET t.Office = s.Office, t.Policies = s.Policies
WHEN NOT MATCHED THEN INSERT (AgentNo, Office, Policies) VALUES (s.AgentNo, s.Office, s.Policies);
